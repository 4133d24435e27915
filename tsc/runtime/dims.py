"""The dims of a call: inferred from the shapes of its tensors, solved where an extent is `n + 1` or `n // 2`,
and held against each other and against the kernel's promises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tsc.expr import EvalError, evaluate
from tsc.runtime.errors import LaunchError, listing
from tsc.runtime.signature import Env, Formula, Signature, TensorParam

_LARGEST_DIM = 1 << 62


def infer(
    signature: Signature,
    shapes: Sequence[tuple[TensorParam, Sequence[int]]],
    given: Mapping[str, int],
    known: Env,
) -> dict[str, int | bool]:
    """Every dim's value, with the constants and with what is `known` beside (integer scalars and `sms`).

    `given` are dims that the caller passes by name. Raises LaunchError where shapes do not fit.
    """
    solver = _Solver(signature, known)
    for name, value in given.items():
        solver.bind(name, value, "the call")
    for param, shape in shapes:
        if len(shape) != len(param.shape):
            raise LaunchError(
                f"`{param.name}` has {_dimensions(len(shape))} and the kernel takes {len(param.shape)}, "
                f"`{param.shape_text}`"
            )
    open_extents = [
        (param, index, extent, shape[index])
        for param, shape in shapes
        for index, extent in enumerate(param.shape)
    ]
    # A bare name says most, so it is bound first: every other extent is then checked, or solved for what is
    # left.
    open_extents.sort(key=lambda entry: entry[2].text not in signature.manifest.dims)
    while open_extents:
        left = [entry for entry in open_extents if not solver.settle(*entry)]
        if len(left) == len(open_extents):
            break
        open_extents = left
    missing = [name for name in signature.manifest.dims if name not in solver.env]
    if missing:
        raise LaunchError(
            f"{listing(missing)} {'follow' if len(missing) > 1 else 'follows'} from no shape; "
            f"pass {', '.join(f'`{name}=...`' for name in missing)}"
        )
    solver.check_promises()
    return solver.env


def fill(signature: Signature, given: Mapping[str, int], known: Env) -> dict[str, int | bool]:
    """The same from dims alone, without tensors."""
    return infer(signature, (), given, known)


class _Solver:
    def __init__(self, signature: Signature, known: Env) -> None:
        self._signature = signature
        self._dims = signature.manifest.dims
        self.env: dict[str, int | bool] = {**signature.constants, **known}
        self._origin: dict[str, str] = {}

    def bind(self, name: str, value: int, origin: str) -> None:
        """Gives a dim its value, or compares it with the one it has."""
        if name not in self.env:
            self.env[name] = value
            self._origin[name] = origin
        elif self.env[name] != value:
            raise LaunchError(
                f"`{name}` is {self.env[name]:,} by {self._origin[name]} and {value:,} by {origin}; they "
                "must agree"
            )

    def settle(self, param: TensorParam, index: int, extent: Formula, given: int) -> bool:
        """Checks or solves one extent; False if it has two unknowns or more yet."""
        unknown = [name for name in extent.names if name not in self.env]
        where = f"dimension {index} of `{param.name}`"
        if extent.text in self._dims:
            self.bind(extent.text, given, where)
            return True
        if len(unknown) > 1:
            return False
        if unknown:
            self.bind(unknown[0], self._solve(extent, unknown[0], given, where), where)
            return True
        wanted = extent.value(self.env)
        if wanted != given:
            raise LaunchError(
                f"`{param.name}` has extent {given:,} in dimension {index}, where {self._why(extent, wanted)}"
            )
        dims = [name for name in extent.names if name in self._dims]
        if len(dims) == 1 and "//" in extent.text:
            # `n // 2` has to be exact, and of the values with this quotient the smallest one is.
            exact = self._solve(extent, dims[0], given, where)
            if exact != self.env[dims[0]]:
                raise LaunchError(
                    f"{self._value_of(dims[0])}, and `{extent.text}` leaves a remainder; pass one that "
                    "divides"
                )
        return True

    def _solve(self, extent: Formula, name: str, wanted: int, where: str) -> int:
        """The smallest value of `name` that gives the extent, which grows with it."""
        env = dict(self.env)

        def at(value: int) -> int:
            env[name] = value
            try:
                return int(evaluate(extent.expr, env))
            except EvalError:
                return _LARGEST_DIM

        high = 1
        while at(high) < wanted and high < _LARGEST_DIM:
            high *= 2
        low = 0
        while low < high:
            middle = (low + high) // 2
            if at(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        if at(low) != wanted:
            raise LaunchError(f"{where} is {wanted:,}, and `{extent.text}` is that for no `{name}`")
        return low

    def _why(self, extent: Formula, wanted: int) -> str:
        dims = [name for name in extent.names if name in self._dims]
        if dims:
            return f"`{extent.text}` is {wanted:,} ({' and '.join(map(self._value_of, dims))})"
        name = "" if extent.text == str(wanted) else f"`{extent.text}` = "
        return f"the kernel is built for {name}{wanted:,}"

    def _value_of(self, name: str) -> str:
        origin = self._origin.get(name)
        return f"`{name}` is {self.env[name]:,}" + (f" by {origin}" if origin else "")

    def check_promises(self) -> None:
        """Holds the dims against `min`, `max`, `multiple_of` and the asserts."""
        for name, dim in self._dims.items():
            value = self.env[name]
            if value < dim.min:
                raise LaunchError(f"{self._value_of(name)}, and the kernel needs at least {dim.min:,}")
            if value > dim.max:
                raise LaunchError(f"{self._value_of(name)}, and the kernel takes at most {dim.max:,}")
            if value % dim.multiple_of:
                raise LaunchError(
                    f"{self._value_of(name)}, and the kernel needs a multiple of {dim.multiple_of:,}"
                )
        for condition, text in self._signature.asserts:
            if not condition.value(self.env):
                said = f" ({text})" if text and text != condition.text else ""
                names = [
                    name
                    for name in condition.names
                    if name in self.env and name not in self._signature.constants
                ]
                facts = " and ".join(map(self._value_of, names))
                raise LaunchError(
                    f"the kernel relies on `{condition.text}`{said}" + (f", and {facts}" if facts else "")
                )


def _dimensions(count: int) -> str:
    return "1 dimension" if count == 1 else f"{count} dimensions"
