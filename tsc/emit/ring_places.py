"""Where rings and their barriers lie in shared memory, as the C++ of one task names it."""

from __future__ import annotations

from collections.abc import Callable

from tsc.emit.function import Function
from tsc.emit.plan import Statement
from tsc.emit.scope import Scope
from tsc.ops.lowering import Refused
from tsc.program.model import Memory, Pipeline


class RingPlaces:
    """The variables of a task with the first bytes and barriers of memory, declared as they are met."""

    def __init__(self, function: Function) -> None:
        self.function, self.kernel, self.task = function, function.kernel, function.task
        self.program = function.program

    def stages_text(self, memory: Memory) -> str:
        """Return the C++ of a ring's number of stages."""
        stages = getattr(self.program.spec.resources[memory.name], "stages", None)
        return (
            str(memory.stages)
            if stages is None
            else self.function.build_text(stages, {}, Scope({}, {}, (), {}))
        )

    def own_copy(self, memory: Memory, copy: int) -> bool:
        """Whether a copy is the one of this replica."""
        return memory.per == self.task.name and self.task.replica == copy

    def number(self, memory: Memory, copy: int, key: str, values: list[int]) -> str:
        """Return the C++ of an offset that each copy has its own of, named after the layout."""
        name = self.kernel.place(key, values[0])
        if copy == 0 and not (self.own_copy(memory, copy) and self.function.symbolic and memory.copies > 1):
            return name
        apart = values[1] - values[0]
        if any(value != values[0] + i * apart for i, value in enumerate(values)):
            return str(values[copy])
        step = self.kernel.place(f"{key}.copy", apart)
        index = (
            self.function.vary(list(range(self.task.replicas))) if self.own_copy(memory, copy) else str(copy)
        )
        if index == "1":
            return f"{name} + {step}"
        return f"{name} + {index if index.isalnum() else f'({index})'} * {step}"

    def prefix(self, memory: Memory, copy: int) -> str:
        """Return how variables of a ring copy begin."""
        if memory.copies == 1 or self.own_copy(memory, copy):
            return memory.name
        return f"{memory.name}_{copy}"

    def address(self, memory: Memory, copy: int) -> str:
        """Return the variable with the first byte of a copy, or its first column in tensor memory."""
        prefix = self.prefix(memory, copy)
        values = [self.kernel.first_byte(memory, i) for i in range(memory.copies)]
        wanted = self.kernel.spelled[memory.name] if prefix == memory.name else ""
        return self._base(
            f"{memory.name}[{copy}]",
            wanted,
            prefix,
            lambda: self.number(memory, copy, memory.name, values),
            memory.kind == "tmem",
        )

    def barriers(self, memory: Memory, copy: int, kind: str) -> str:
        """Return the variable with the first full or empty barrier of a copy."""
        group = self.program.groups.get(memory.group or "")
        shared = group is not None and kind == ("empty" if group.kind == "merge" else "full")
        name = group.name if shared and group is not None else memory.name
        values = []
        for i in range(memory.copies):
            pipeline = self.pipeline(memory, i)
            offset = pipeline.full_offset if kind == "full" else pipeline.empty_offset
            if offset is None:
                raise Refused(f"`{memory.name}` has no {kind} barrier")
            values.append(offset)
        prefix = (
            f"{name}_{kind}" if memory.copies == 1 or self.own_copy(memory, copy) else f"{name}_{copy}_{kind}"
        )
        key = f"{name}.{kind}"
        return self._base(f"{key}[{copy}]", "", prefix, lambda: self.number(memory, copy, key, values))

    def pipeline(self, memory: Memory, copy: int) -> Pipeline:
        """Return how a copy of a ring is synchronised."""
        found = self.program.pipelines.get((memory.name, copy))
        if found is None:
            raise Refused(f"`{memory.name}` has no copy {copy}")
        return found

    def _base(self, key: str, name: str, wanted: str, offset: Callable[[], str], tensor: bool = False) -> str:
        function = self.function
        if key not in function.spelled_lets:
            function.uses_tensor |= tensor
            function.uses_shared |= not tensor
            name = function.spelled_lets[key] = name or function.names.free(wanted)
            value = f"{'tensor' if tensor else 'shared'} + {offset()}"
            function.prelude.bases[key] = Statement("constant", {"type": "u32", "name": name, "value": value})
        return function.spelled_lets[key]

    @staticmethod
    def at(barriers: str, stage: str) -> str:
        """Return the C++ of the barrier of a stage."""
        return barriers if stage == "0" else f"{barriers} + 8 * {stage}"
