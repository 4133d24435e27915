"""From what a caller writes to one value a parameter, and from each tensor to its facts."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from tsc.runtime.errors import LaunchError, listing, suggestion
from tsc.runtime.signature import Param, Signature, TensorParam
from tsc.runtime.tensors import Facts, Reader, direct_reader, is_tensor, read_exported

Dims = tuple[tuple[str, int], ...]

# By type, because to look is dearer than to read; None for types that go through an exchange protocol.
_readers: dict[type, Reader | None] = {}


def reader_of(kind: type) -> Reader | None:
    """The reader for tensors of this type, None if each has to be asked by an exchange protocol."""
    try:
        return _readers[kind]
    except KeyError:
        return _readers.setdefault(kind, direct_reader(kind))


def arrange(
    signature: Signature, arguments: Sequence[Any], named: Mapping[str, Any]
) -> tuple[tuple[Any, ...], Dims]:
    """The arguments in the order of the parameters, and the dims given by name. Raises LaunchError."""
    params = signature.params
    names = [param.name for param in params]
    if len(arguments) > len(params):
        raise LaunchError(f"it takes {_count(len(params))}{_those(names)} and gets {len(arguments)}")
    values: dict[str, Any] = dict(zip(names, arguments, strict=False))
    dims: dict[str, int] = {}
    for name, value in named.items():
        if name in values:
            raise LaunchError(f"`{name}` is passed twice, by position and by name")
        if name in names:
            values[name] = value
        elif name in signature.manifest.dims:
            dims.update(named_dims(signature, {name: value}))
        else:
            raise LaunchError(
                "it has no parameter "
                f"`{name}`{suggestion(name, (*names, *signature.manifest.dims, 'stream'))}"
            )
    missing = [param for param in params if param.name not in values]
    if missing:
        wanted = "; ".join(f"`{param.name}`, {described(param)}" for param in missing)
        raise LaunchError(
            f"it takes {_count(len(params))}{_those(names)} and {_lacks(len(missing))} missing: {wanted}"
        )
    return tuple(values[name] for name in names), tuple(sorted(dims.items()))


def named_dims(signature: Signature, given: Mapping[str, Any]) -> dict[str, int]:
    """Dims passed by name. Raises LaunchError for a name that is none and for what is no integer."""
    dims = {}
    for name, value in given.items():
        if name not in signature.manifest.dims:
            raise LaunchError(f"it has no dim `{name}`{suggestion(name, signature.manifest.dims)}")
        dims[name] = _dim(name, value)
    return dims


def described(param: Param) -> str:
    """What to pass for a parameter."""
    if isinstance(param, TensorParam):
        return f"a {param.dtype.name} tensor of shape {param.shape_text}"
    return f"a number of type {param.dtype}"


def read_slowly(param: Param, value: Any, stream: int, capturing: bool) -> tuple[Facts, object]:
    """The facts of a tensor of no known framework, and what keeps its memory. Raises LaunchError."""
    if not is_tensor(value):
        refuse_value(param, value)
    return read_exported(param.name, value, stream, capturing)


def refuse_value(param: Param, value: Any) -> NoReturn:
    """Raises the LaunchError for what is no tensor."""
    if value is None:
        given = "None"
    elif isinstance(value, int) and not isinstance(value, bool):
        given = "a number, and a bare address does not say what lies there"
    else:
        given = f"a `{type(value).__name__}`"
    raise LaunchError(f"`{param.name}` is {given}; pass {described(param)}")


def _dim(name: str, value: Any) -> int:
    try:
        whole = operator.index(value)
    except TypeError:
        raise LaunchError(f"dim `{name}` is a `{type(value).__name__}`; pass an integer") from None
    if whole.bit_length() > 63:
        raise LaunchError(f"dim `{name}` needs more than the 64 bits of a dim")
    return whole


def _count(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def _those(names: Sequence[str]) -> str:
    return f" ({listing(names)})" if names else ""


def _lacks(count: int) -> str:
    return "one is" if count == 1 else f"{count} are"
