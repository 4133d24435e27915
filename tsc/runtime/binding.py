"""What a call fixes by the shapes of its tensors alone: dims, grid, strides, values for the kernel."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tsc.artifact.manifest import StrideArgument, ValueArgument
from tsc.runtime.devices import RESIDENT
from tsc.runtime.dims import infer
from tsc.runtime.errors import LaunchError
from tsc.runtime.layout import Laid, check_strides, in_elements
from tsc.runtime.scalars import packed_or_refused
from tsc.runtime.signature import Env, Signature, TensorParam
from tsc.runtime.tensors import Facts, dense_strides

_GRID_LIMITS = ((1 << 31) - 1, 65_535, 65_535)


@dataclass(frozen=True, slots=True)
class Binding:
    """One set of shapes, bound."""

    laid: Mapping[str, Laid]
    """each tensor and workspace by name"""
    workspace_bytes: tuple[int, ...]
    grid: tuple[int, int, int]
    empty: bool
    """whether there is nothing to do"""
    packed: tuple[bytes | None, ...]
    """the bytes of each kernel parameter that follows from the shapes"""


def bind(
    signature: Signature,
    tensors: Sequence[tuple[TensorParam, Facts]],
    given: Mapping[str, int],
    known: Env,
) -> Binding:
    """Checks types, shapes, strides and promises, and derives what follows from them.

    `given` are dims by name, `known` the integer scalars and `sms`. Raises LaunchError.
    """
    elements = [(param, in_elements(param, facts)) for param, facts in tensors]
    env = infer(signature, [(param, laid.shape) for param, laid in elements], given, known)
    laid = {param.name: check_strides(param, one) for param, one in elements}
    empty = _is_empty(signature, [(param, one.shape) for param, one in elements], env)
    workspace_bytes = []
    for tensor in signature.workspace:
        shape = tuple(extent.value(env) for extent in tensor.shape)
        if any(extent < 0 for extent in shape):
            raise LaunchError(
                f"workspace `{tensor.name}` gets shape {list(shape)}, and an extent is not negative"
            )
        laid[tensor.name] = Laid(shape, dense_strides(shape))
        workspace_bytes.append(math.prod(shape) * tensor.dtype.bits // 8)
    grid = (0, 0, 0) if empty else grid_of(signature, env)
    empty = empty or 0 in grid
    packed = () if empty else tuple(_packed(signature, laid, env))
    return Binding(laid, tuple(workspace_bytes), grid, empty, packed)


def _is_empty(signature: Signature, shapes: Sequence[tuple[TensorParam, Sequence[int]]], env: Env) -> bool:
    """Whether a tensor has no elements, and not because of a dim at 0 with which the kernel runs."""
    dims = signature.manifest.dims
    for param, shape in shapes:
        for extent, value in zip(param.shape, shape, strict=True):
            zeros = [name for name in extent.names if name in dims and env[name] == 0]
            if value == 0 and not (zeros and all(dims[name].runs_at_zero for name in zeros)):
                return True
    return False


def grid_of(signature: Signature, env: Env) -> tuple[int, int, int]:
    """The grid in CTAs; a 0 in it means no launch. Raises LaunchError for one that CUDA cannot launch."""
    grid = tuple(formula.value(env) for formula in signature.grid)
    for axis, count, formula, limit in zip("xyz", grid, signature.grid, _GRID_LIMITS, strict=True):
        if count < 0:
            raise LaunchError(
                f"the grid has {count:,} CTAs in {axis} (`{formula.text}`), which is less than none"
            )
        if count > limit:
            raise LaunchError(
                f"the grid has {count:,} CTAs in {axis} (`{formula.text}`), and CUDA allows {limit:,}"
            )
    if 0 not in grid:
        for axis, count, formula, cluster in zip(
            "xyz", grid, signature.grid, signature.manifest.cluster, strict=True
        ):
            if count % cluster:
                raise LaunchError(
                    f"the grid has {count:,} CTAs in {axis} (`{formula.text}`), which is no multiple of the "
                    "cluster's "
                    f"{cluster}"
                )
    most = int(env.get(RESIDENT, 0)) * math.prod(signature.manifest.cluster)
    if most and math.prod(grid) > most:
        raise LaunchError(
            f"the grid has {math.prod(grid):,} CTAs (`{signature.grid[0].text}`), and {most:,} can be "
            "resident at once, as CTAs that stay for several tiles have to be; write fewer `ctas`"
        )
    return grid[0], grid[1], grid[2]


def _packed(signature: Signature, laid: Mapping[str, Laid], env: Env) -> list[bytes | None]:
    packed: list[bytes | None] = []
    for slot in signature.slots:
        argument = slot.argument
        if isinstance(argument, StrideArgument):
            value = laid[argument.tensor].strides[argument.dim]
            what = f"the stride of dimension {argument.dim} of `{argument.tensor}`"
        elif isinstance(argument, ValueArgument) and slot.formula is not None:
            value = slot.formula.value(env)
            what = f"`{argument.expr}`"
        else:
            packed.append(None)
            continue
        packed.append(packed_or_refused(what, argument.type, value))
    return packed
