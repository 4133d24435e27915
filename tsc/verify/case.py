"""One case: fresh inputs, poisoned outputs, three launches, and what became of memory."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from tsc.artifact.manifest import DTYPE_BITS, Manifest, Tensor
from tsc.notation import Node, NotationError, names
from tsc.runtime.errors import LaunchError
from tsc.verify.arrays import FLOATS, Arrays, poison
from tsc.verify.compare import compare, index_of, tolerance_for
from tsc.verify.evaluate import arguments_of, call_python, evaluate, function_of, is_wide, shaped
from tsc.verify.inputs import made
from tsc.verify.layout import Layout, as_run, lay_out, names_of
from tsc.verify.plan import Case, Plan, PlanError, Value
from tsc.verify.results import CaseResult, OutputResult

LAUNCHES: Final = 3
GUARD_BYTE: Final = 0xC7
BEHIND_INPUTS: Final = 0xFF
"""What lies round an input: NaN in every float type, so that a read of it is seen."""


class Kernel(Protocol):
    """What is used of a loaded kernel."""

    @property
    def manifest(self) -> Manifest:
        """What the cubin says."""
        ...

    def __call__(self, /, *arguments: Any, **named: Any) -> None:
        """Enqueue a launch."""
        ...


@dataclass(frozen=True, slots=True)
class Checker:
    """A kernel with its plan, ready to run cases."""

    kernel: Kernel
    plan: Plan
    arrays: Arrays
    trees: Mapping[str, Node]
    function: Callable[..., Any] | None
    asked: frozenset[str]
    """names that the reference reads: an output among them starts with data"""

    @classmethod
    def of(cls, kernel: Kernel, plan: Plan, arrays: Arrays) -> Checker:
        """Raises PlanError where the reference cannot be read."""
        trees = plan.trees()
        function = None if plan.python is None else function_of(plan.python)
        asked = {ref.name for tree in trees.values() for ref in names(tree)}
        if function is not None:
            asked |= arguments_of(function)
        return cls(kernel, plan, arrays, trees, function, frozenset(asked))

    def run(self, number: int, case: Case, seed: int = 0) -> CaseResult:
        """Run one case. What is wrong with it is in the result; a failure of the device is raised."""
        began = time.perf_counter()
        try:
            case = as_run(self.kernel.manifest, case)
            result = _Run(self, case, seed + number).result(number)
        except (PlanError, NotationError, LaunchError) as error:
            result = CaseResult(number, case, "refused", faults=(str(error),))
        return replace(result, seconds=time.perf_counter() - began)


class _Run:
    """The buffers of a case."""

    def __init__(self, checker: Checker, case: Case, seed: int) -> None:
        self.checker, self.case = checker, case
        self.arrays, self.plan = checker.arrays, checker.plan
        self.manifest = checker.kernel.manifest
        known = names_of(self.manifest, case)
        self.numbers: dict[str, Value] = {**known, **self._scalars()}
        self.tensors = {tensor.name: tensor for tensor in self.manifest.tensors}
        self.layouts = {name: lay_out(tensor, known) for name, tensor in self.tensors.items()}
        self.written = [name for name, tensor in self.tensors.items() if tensor.access != "in"]
        self.notes: list[str] = []
        self.arrays.seed(seed)
        self.wide = self._is_wide()
        # Bits of what the kernel finds: inputs, and outputs that start with data.
        self.given = {
            name: made(self.arrays, layout, self.plan.inputs.get(name))
            for name, layout in self.layouts.items()
            if self._starts_with_data(self.tensors[name])
        }
        self.buffers = {name: self.arrays.raw(layout.bytes) for name, layout in self.layouts.items()}

    def _scalars(self) -> dict[str, Value]:
        """The scalars as the kernel gets them: rounded to their type."""
        return {one.name: _rounded(self.case[one.name], one.dtype) for one in self.manifest.scalars}

    def _starts_with_data(self, tensor: Tensor) -> bool:
        return tensor.access == "in" or tensor.name in self.plan.inputs or tensor.name in self.checker.asked

    def _is_wide(self) -> bool:
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys(self.numbers, ())
        shapes |= {name: layout.shape for name, layout in self.layouts.items()}
        return is_wide(self.checker.trees, shapes)

    def result(self, number: int) -> CaseResult:
        """Launch, look at memory, compare."""
        wanted = self._wanted()
        for name in self.given.keys() - set(self.written):
            self.arrays.fill(self.buffers[name], BEHIND_INPUTS)
            self.arrays.store(self.buffers[name], self.layouts[name], self.given[name])
        sums = {
            name: self.arrays.checksum(self.buffers[name])
            for name in self.tensors
            if name not in self.written
        }
        faults: list[str] = []
        first: dict[str, Any] = {}
        missed: dict[str, Any] = {}
        outputs: dict[str, OutputResult] = {}
        equal = True
        for launch in range(LAUNCHES):
            self._poison(launch)
            self._launch()
            for name in self.written:
                layout, raw = self.layouts[name], self.buffers[name]
                bits = self.arrays.load(raw, layout)
                faults += self._guard_faults(name)
                if name not in self.given and launch < 2:
                    untouched = self._untouched(bits, layout, launch)
                    missed[name] = untouched if not launch else missed[name] & untouched
                changed = launch > 0 and bool((first[name] != bits).any())
                if not launch:
                    first[name] = bits
                equal = equal and (
                    not changed or (name in missed and self._only_missed(name, first, bits, missed))
                )
                if not launch or changed:
                    found = self._compare(name, bits, wanted)
                    outputs[name] = _worse(outputs.get(name), found)
        for name, untouched in missed.items():
            outputs[name] = self._with_missed(outputs[name], self.layouts[name], untouched)
        for name, before in sums.items():
            if self.arrays.checksum(self.buffers[name]) != before:
                faults.append(f"`{name}` is an input, and its memory was written")
        for name, one in outputs.items():
            if one.faults and self.tensors[name].access == "inout" and name not in self.given:
                self.notes.append(
                    f"`{name}` is read, too: name it in the reference, or in `verify.inputs` what it holds"
                )
        if not equal:
            self.notes.append(f"{LAUNCHES} launches are not bit-equal")
        bad = bool(faults) or any(one.faults for one in outputs.values())
        return CaseResult(
            number=number,
            case=self.case,
            verdict="wrong" if bad else "ok",
            outputs=tuple(outputs.values()),
            faults=tuple(dict.fromkeys(faults)),
            notes=tuple(dict.fromkeys(self.notes)),
            bit_equal=equal,
        )

    def _wanted(self) -> dict[str, Any]:
        """The references by output, evaluated before anything is launched."""
        arrays = self.arrays
        if self.checker.function is not None:
            taken = arguments_of(self.checker.function)
            values: dict[str, Any] = {name: value for name, value in self.numbers.items() if name in taken}
            for name, bits in self.given.items():
                if name in taken:
                    values[name] = arrays.to_host(self._python_value(bits, self.layouts[name]))
            found = call_python(self.checker.function, values)
            made_of = {name: arrays.from_host(value, self.wide) for name, value in found.items()}
        else:
            asked = self.checker.asked
            known: dict[str, Any] = dict(self.numbers)
            for name, bits in self.given.items():
                if name in asked:
                    known[name] = arrays.values(bits, self.layouts[name], self.wide)
            made_of = {
                name: evaluate(tree, known, arrays, self.wide) for name, tree in self.checker.trees.items()
            }
        for name in made_of:
            if name not in self.written:
                raise PlanError(f"the reference gives `{name}`, which the kernel does not write")
        return {
            name: shaped(value, self.layouts[name].shape, name, arrays) for name, value in made_of.items()
        }

    def _python_value(self, bits: Any, layout: Layout) -> Any:
        if layout.dtype in FLOATS:
            return self.arrays.values(bits, layout, self.wide)
        return self.arrays.permuted(self.arrays.whole(bits, layout.dtype), layout.places)

    def _poison(self, launch: int) -> None:
        for name in self.written:
            raw, layout = self.buffers[name], self.layouts[name]
            self.arrays.fill(raw, GUARD_BYTE)
            start = self.given.get(name)
            self.arrays.store(raw, layout, poison(layout.dtype)[launch % 2] if start is None else start)

    def _launch(self) -> None:
        arguments = []
        for param in self.manifest.params:
            if isinstance(param, Tensor):
                arguments.append(self.arrays.argument(self.buffers[param.name], self.layouts[param.name]))
            else:
                arguments.append(self.case[param.name])
        self.checker.kernel(*arguments, **{name: self.numbers[name] for name in self.manifest.dims})
        self.arrays.synchronize()

    def _guard_faults(self, name: str) -> list[str]:
        layout = self.layouts[name]
        place = self.arrays.outside(self.buffers[name], layout, GUARD_BYTE)
        if place is None:
            return []
        past = place - layout.offset
        where = (
            f"{-past:,} bytes before its first element" if past < 0 else f"{past:,} bytes after its beginning"
        )
        return [f"memory round `{name}` was written, first {where}, where no element is"]

    def _untouched(self, bits: Any, layout: Layout, launch: int) -> Any:
        """Which elements still hold the poison."""
        pattern = poison(layout.dtype)[launch % 2]
        if DTYPE_BITS[layout.dtype] == 4:
            codes = self.arrays.whole(bits, "u4")
            return codes == (pattern & 15)
        signed = 8 * layout.unit
        return bits == (pattern if signed == 8 or pattern < 1 << signed - 1 else pattern - (1 << signed))

    def _only_missed(self, name: str, first: Mapping[str, Any], bits: Any, missed: Mapping[str, Any]) -> bool:
        """Whether two launches differ in nothing but the poison that they left."""
        if DTYPE_BITS[self.layouts[name].dtype] == 4:
            return False
        return not bool(((first[name] != bits) & ~missed[name]).any())

    def _with_missed(self, found: OutputResult, layout: Layout, untouched: Any) -> OutputResult:
        placed = self.arrays.permuted(untouched, layout.places).reshape(-1)
        count = int(placed.sum().item())
        if not count:
            return found
        index = ", ".join(map(str, index_of(self.arrays.first(placed), layout.shape)))
        sentence = (
            f"{count:,} of {found.elements:,} elements of `{layout.name}` are not written, first [{index}]"
        )
        return replace(found, faults=(sentence, *found.faults))

    def _compare(self, name: str, bits: Any, wanted: Mapping[str, Any]) -> OutputResult:
        layout = self.layouts[name]
        if name not in wanted:
            self.notes.append(f"`{name}` has no reference; that it is written is all that is looked at")
            elements = 1
            for extent in layout.shape:
                elements *= extent
            return OutputResult(name, elements, compared=False)
        dtypes = [self.tensors[one].dtype for one in self.given]
        tolerance = tolerance_for(layout.dtype, dtypes, self.plan.rtol, self.plan.atol)
        got = self.arrays.values(bits, layout, self.wide)
        return compare(self.arrays, layout, got, wanted[name], tolerance, self.wide)


def _worse(before: OutputResult | None, found: OutputResult) -> OutputResult:
    """The result of the launch that is farther off."""
    if before is None:
        return found
    if bool(found.faults) != bool(before.faults):
        return found if found.faults else before
    return before if before.relative_error >= found.relative_error else found


def _rounded(value: Value, dtype: str) -> Value:
    """A scalar as the kernel computes with it."""
    match dtype:
        case "f32":
            return float(struct.unpack("<f", struct.pack("<f", value))[0])
        case "f16":
            return float(struct.unpack("<e", struct.pack("<e", value))[0])
        case "bf16":
            bits = int(struct.unpack("<I", struct.pack("<f", value))[0])
            bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF_0000
            return float(struct.unpack("<f", struct.pack("<I", bits))[0])
    return value
