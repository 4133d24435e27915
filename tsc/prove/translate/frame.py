"""What all agents of a system share while it is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from tsc.emit.brackets import Brackets, find_brackets, loads_of
from tsc.emit.function import Function
from tsc.emit.hazards import Hazards, find_hazards
from tsc.emit.held import Held
from tsc.emit.kernel import Kernel
from tsc.emit.rings import Rings
from tsc.program.accesses import Touch
from tsc.program.model import Memory, Program, Queue, Task
from tsc.program.tree import Block, Node, Step, blocks
from tsc.prove.asked import Questions
from tsc.prove.machine import Cells, Segment
from tsc.prove.translate.cluster import Cluster
from tsc.prove.translate.lines import Lines
from tsc.prove.translate.memory import Bank
from tsc.prove.translate.tensors import Tensors
from tsc.source.route import Route

# Returns the segments of each stage of a ring that an agent fills.
Filler = Callable[[Memory, int], Cells]

# Steps that an arrival may be moved over: they neither wait nor touch memory.
_PASSED = frozenset(("try_acquire", "try_wait", "commit", "release", "tma_prefetch"))


@dataclass(slots=True)
class Frame:
    """The tables that grow while tasks are translated. `outside` is the segment of the kernels before."""

    program: Program
    kernel: Kernel
    cluster: Cluster
    bank: Bank
    lines: Lines
    tensors: Tensors
    questions: Questions
    outside: int | None = None
    before: int | None = None  # the barrier at which the kernel before ends
    unmodelled: dict[tuple[Route, str], None] = field(default_factory=dict)
    fillers: list[Filler] = field(default_factory=list)  # of every agent
    _shared: dict[tuple[str, int], frozenset[Segment]] = field(default_factory=dict)

    def shared(self, memory: Memory, copy: int) -> frozenset[Segment]:
        """Return the bytes of a ring that several agents fill."""
        key = (memory.name, copy)
        if key not in self._shared:
            each = [{one for stage in fills(memory, copy) for one in stage} for fills in self.fillers]
            counts = Counter(segment for segments in each for segment in segments)
            self._shared[key] = frozenset(segment for segment, count in counts.items() if count > 1)
        return self._shared[key]

    def leave_out(self, route: Route, sentence: str) -> None:
        """Note what the system does not have; once a place and sentence."""
        self.unmodelled.setdefault((route, sentence))

    @property
    def dynamic(self) -> Queue | None:
        """Return the queue if its tiles are asked for one by one."""
        queue = self.program.queue
        return queue if queue is not None and queue.dynamic else None


class View:
    """A task as the generator sees it: how many stages it holds where, its fences and syncs."""

    def __init__(self, frame: Frame, task: Task) -> None:
        self.frame, self.task, self.program = frame, task, frame.program
        self.rings = Rings(Function(frame.kernel, task, False))
        self.held: Held = self.rings.held
        self.brackets: Brackets = find_brackets(frame.kernel, task, self.rings)
        self.hazards: Hazards = find_hazards(frame.kernel, task, self.brackets)
        self.early: dict[int, Step] = {}  # commits whose arrival stands behind the last load, by that load
        self._early(task.tree)

    @cached_property
    def writes(self) -> dict[tuple[str, int], list[tuple[Step, Touch]]]:
        """The writes of the task, by the copy of the resource that they go to."""
        found: dict[tuple[str, int], list[tuple[Step, Touch]]] = {}
        for step in self.task.steps():
            for touch in self.program.touches(step, self.task):
                if touch.writes and touch.operand is not None:
                    found.setdefault((touch.operand.name, touch.operand.copy), []).append((step, touch))
        return found

    def _early(self, block: Block) -> None:
        """Find commits whose arrival comes with a load, ahead of steps that it would have behind it."""
        for at, node in enumerate(block):
            for inner in blocks(node):
                self._early(inner)
            if not isinstance(node, Step) or node.index not in self.brackets.silent:
                continue
            if self.rings.arrives(self.members(node), "write") not in ("one", "leader"):
                continue  # threads arrive at the commit, whoever announces bytes before
            members = {(memory.name, copy) for memory, copy in self.members(node)}
            passed: list[Node] = []
            for before in reversed(block[:at]):
                if (
                    isinstance(before, Step)
                    and members & loads_of(before, self.frame.kernel, self.task).keys()
                ):
                    if any(not isinstance(one, Step) or one.verb not in _PASSED for one in passed):
                        self.early[before.index] = node
                    break
                passed.append(before)

    def members(self, step: Step) -> tuple[tuple[Memory, int], ...]:
        """Return the rings of a ring step, those of a group apart."""
        return self.rings.members(step)

    def keep(self, step: Step) -> int:
        """Return how many stages a step leaves."""
        return self.held.keeps.get(step.index, 0)

    def constant(self, expr: object, step: Step) -> int:
        """Return a build-time value; 0 where it has none, which a rule reports."""
        value = self.program.flat(expr, step.env).value  # type: ignore[arg-type]
        return 0 if value is None else int(value)

    def reads_where_it_waits(self, step: Step, memory: Memory, copy: int, reads: bool) -> bool | None:
        """Whether an access means the stage waited for last, not the one acquired last; `None`: neither."""
        name, held = memory.name, self.held
        waits, fills = (name, copy, "read") in held.takes, (name, copy, "write") in held.takes
        if waits and fills:
            around = held.around.get(step.index, set())
            now = (name, copy, "read") in around, (name, copy, "write") in around
            waits, fills = now if any(now) else (True, True)
        if not waits and not fills:
            return None
        return waits and (reads or not fills)
