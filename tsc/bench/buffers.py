"""The buffers of a case: as many sets as the L2 asks for, filled as the spec says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tsc.artifact.manifest import DTYPE_BITS, Manifest, Tensor
from tsc.bench.race import sets_of
from tsc.verify.arrays import Arrays, poison
from tsc.verify.inputs import made
from tsc.verify.layout import Layout, lay_out, pitch_multiple
from tsc.verify.plan import Case, Plan, PlanError, Value

Set = dict[str, Any]
"""A tensor or a number by the name of its param."""


def dense(tensor: Tensor, known: Mapping[str, int | bool]) -> Layout:
    """A tensor without gaps, or with the smallest ones that the kernel accepts. Raises PlanError."""
    apart = lay_out(tensor, known)
    multiple = 1 if tensor.packed else pitch_multiple(tensor)
    strides = [0] * len(apart.shape)
    run = 1
    for index, dim in enumerate(reversed(tensor.order)):
        if index:
            run = -(-run // multiple) * multiple
        strides[dim] = run
        run *= max(1, apart.shape[dim])
    size = -(-run * DTYPE_BITS[tensor.dtype] // 8)
    return Layout(
        name=tensor.name,
        dtype=tensor.dtype,
        shape=apart.shape,
        strides=tuple(strides),
        order=tensor.order,
        offset=0,
        bytes=-(-max(size, 1) // 16) * 16,
    )


class Buffers:
    """All sets of one case. Sets differ in their memory and their numbers, not in anything else."""

    def __init__(
        self,
        arrays: Arrays,
        manifest: Manifest,
        plan: Plan,
        case: Case,
        known: Mapping[str, int | bool],
        l2_bytes: int,
    ) -> None:
        """Make and fill every set. Raises PlanError where the case lacks a size or a number."""
        self._arrays = arrays
        self._manifest = manifest
        self.layouts = {tensor.name: dense(tensor, known) for tensor in manifest.tensors}
        self.bytes = sum(layout.bytes for layout in self.layouts.values())
        self.raws: list[dict[str, Any]] = []
        self.sets: list[Set] = []
        numbers = {scalar.name: _number(scalar.name, case) for scalar in manifest.scalars}
        for index in range(sets_of(self.bytes, l2_bytes)):
            arrays.seed(index)
            raws = {name: arrays.raw(layout.bytes) for name, layout in self.layouts.items()}
            for name, layout in self.layouts.items():
                arrays.store(raws[name], layout, made(arrays, layout, plan.inputs.get(name)))
            tensors = {name: arrays.argument(raws[name], layout) for name, layout in self.layouts.items()}
            self.raws.append(raws)
            self.sets.append({**tensors, **numbers})

    def poison(self) -> None:
        """Fill the outputs of the first set with NaN, or with a pattern where the type has none."""
        for tensor in self._manifest.tensors:
            if tensor.access == "out":
                layout = self.layouts[tensor.name]
                self._arrays.store(self.raws[0][tensor.name], layout, poison(tensor.dtype)[0])


def _number(name: str, case: Case) -> Value:
    value = case.get(name)
    if value is None:
        raise PlanError(f"the kernel takes a number `{name}`, and the case has none; write `-D {name}=...`")
    return value
