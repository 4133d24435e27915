"""A kernel's manifest made ready for calls: expressions parsed, arguments laid out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from tsc.artifact.manifest import (
    Argument,
    CounterArgument,
    Manifest,
    PointerArgument,
    Scalar,
    Tensor,
    TensorMapArgument,
    ValueArgument,
)
from tsc.expr import EvalError, Expr, evaluate, parse
from tsc.runtime.driver import TENSOR_MAP_BYTES
from tsc.runtime.dtypes import DTYPES, Dtype
from tsc.runtime.errors import LaunchError
from tsc.runtime.scalars import is_integer, size

Env: TypeAlias = Mapping[str, int | bool]
"""Values by name: constants, dims, integer scalars and `sms`."""


@dataclass(frozen=True, slots=True)
class Formula:
    """An expression of the manifest."""

    text: str
    expr: Expr
    names: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Formula:
        """Parses; the manifest's reader has done so before, so it does not fail."""
        expr = parse(text)
        return cls(text, expr, tuple(dict.fromkeys(name.text for name in expr.names)))

    def value(self, env: Env) -> int:
        """Its value as an integer. Raises LaunchError where there is none, as for a division by zero."""
        try:
            return int(evaluate(self.expr, env))
        except EvalError as error:
            raise LaunchError(f"`{self.text}` has no value: {error}") from None


@dataclass(frozen=True, slots=True)
class TensorParam:
    """A tensor that the caller passes."""

    name: str
    dtype: Dtype
    shape: tuple[Formula, ...]
    order: tuple[int, ...]
    written: bool
    align: int
    stride_multiple: int
    packed: bool
    padded: bool

    @property
    def shape_text(self) -> str:
        """The shape as the spec writes it."""
        return f"[{', '.join(extent.text for extent in self.shape)}]"


@dataclass(frozen=True, slots=True)
class ScalarParam:
    """A number that the caller passes; `in_expressions` if shapes, the grid or a value may depend on it."""

    name: str
    dtype: str
    in_expressions: bool


@dataclass(frozen=True, slots=True)
class WorkspaceTensor:
    """A row-major tensor that the loader makes."""

    name: str
    dtype: Dtype
    shape: tuple[Formula, ...]
    zero: str


Param: TypeAlias = TensorParam | ScalarParam


@dataclass(frozen=True, slots=True)
class Slot:
    """One kernel parameter: what it is, and where its bytes lie among those of all."""

    argument: Argument
    offset: int
    bytes: int
    formula: Formula | None


@dataclass(frozen=True, slots=True)
class Signature:
    """What a call of the kernel is checked against and packed by."""

    manifest: Manifest
    params: tuple[Param, ...]
    workspace: tuple[WorkspaceTensor, ...]
    constants: dict[str, int | bool]
    grid: tuple[Formula, Formula, Formula]
    asserts: tuple[tuple[Formula, str], ...]
    slots: tuple[Slot, ...]
    argument_bytes: int

    @property
    def kernel(self) -> str:
        """The kernel's name."""
        return self.manifest.kernel

    def element(self, name: str) -> tuple[Dtype, tuple[int, ...]]:
        """The type of a tensor or workspace, and its dimensions from the slowest to the contiguous one."""
        for param in self.params:
            if isinstance(param, TensorParam) and param.name == name:
                return param.dtype, param.order
        (made,) = (tensor for tensor in self.workspace if tensor.name == name)
        return made.dtype, tuple(range(len(made.shape)))


def signature_of(manifest: Manifest) -> Signature:
    """The signature of a kernel."""
    x, y, z = manifest.grid
    slots, end = _lay_out(manifest)
    return Signature(
        manifest=manifest,
        params=tuple(_param(param) for param in manifest.params),
        workspace=tuple(
            WorkspaceTensor(one.name, DTYPES[one.dtype], tuple(map(Formula.of, one.shape)), one.zero)
            for one in manifest.workspace
        ),
        constants={name: value for name, value in manifest.constants.items() if isinstance(value, int)},
        grid=(Formula.of(x), Formula.of(y), Formula.of(z)),
        asserts=tuple((Formula.of(one.expr), one.text) for one in manifest.asserts),
        slots=slots,
        argument_bytes=end,
    )


def _param(param: Tensor | Scalar) -> Param:
    if isinstance(param, Scalar):
        return ScalarParam(param.name, param.dtype, is_integer(param.dtype))
    return TensorParam(
        name=param.name,
        dtype=DTYPES[param.dtype],
        shape=tuple(map(Formula.of, param.shape)),
        order=param.order,
        written=param.access != "in",
        align=param.align,
        stride_multiple=param.stride_multiple,
        packed=param.packed,
        padded=param.padded,
    )


def _lay_out(manifest: Manifest) -> tuple[tuple[Slot, ...], int]:
    slots = []
    end = 0
    for argument in manifest.arguments:
        match argument:
            case TensorMapArgument():
                width = TENSOR_MAP_BYTES
            case PointerArgument() | CounterArgument():
                width = 8
            case _:
                width = size(argument.type)
        # The driver wants a tensor map aligned as itself, and everything else naturally.
        offset = -(-end // width) * width
        formula = Formula.of(argument.expr) if isinstance(argument, ValueArgument) else None
        slots.append(Slot(argument, offset, width, formula))
        end = offset + width
    return tuple(slots), end
