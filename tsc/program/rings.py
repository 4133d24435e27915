"""Who fills and who reads each ring, its type of pipeline, its arrival counts and transaction bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tsc.ops.base import Engine
from tsc.ops.sharing import led
from tsc.program.accesses import Meanings, Touch, touches
from tsc.program.arrivals import arrivals, one_of_all
from tsc.program.expand import operand_of
from tsc.program.model import Memory, Pipeline, RingUse, Task, Work
from tsc.program.multicast import Shared, reached, tellers
from tsc.program.sending import sending
from tsc.program.tree import Block, Step, blocks
from tsc.spec.document import Spec


@dataclass(slots=True)
class _Seen:
    verbs: set[str] = field(default_factory=set)
    observed: bool = False
    plain_wait: bool = False
    reads: set[str] = field(default_factory=set)
    updates: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    shared: set[Shared] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Usage:
    """What was seen of one ring copy in one task; `shared` are the loads that several CTAs receive."""

    use: RingUse
    shared: frozenset[Shared]


def ring_uses(
    tasks: Iterable[Task],
    memories: Mapping[str, Memory],
    meanings: Meanings,
    works: Mapping[str, Work],
    cluster: Mapping[str, int],
) -> list[Usage]:
    """Collect what each task instance does with each ring copy, groups looked through."""
    found: list[Usage] = []
    for task in tasks:
        seen: dict[tuple[str, int], _Seen] = {}
        for step in task.steps():
            reference = operand_of(step)
            if reference is not None and step.verb in _RING_VERBS:
                operand = meanings.meaning(reference, task.name, task.replica, step.env, step.route)
                for name in meanings.group_members(reference.name):
                    if name in memories and operand is not None:
                        _note(seen.setdefault((name, operand.copy), _Seen()), step)
            for touch in touches(step, meanings, works, task.name, task.replica):
                if touch.operand is None or touch.operand.name not in memories:
                    continue
                entry = seen.setdefault((touch.operand.name, touch.operand.copy), _Seen())
                if touch.mode == "read":
                    entry.reads.add(touch.engine.value)
                elif touch.mode == "update" and touch.engine is not Engine.TCGEN05:
                    entry.updates.add(touch.engine.value)
                if touch.writes:
                    entry.writes.add(touch.engine.value)
                    axis = getattr(step.model, "multicast", None)
                    if axis is not None:
                        size = loaded_bytes(memories[touch.operand.name], step, touch)
                        entry.shared.add(Shared(axis, led(step.model, size, cluster.get(axis, 1))))
                    copied = sending(step, meanings.values, cluster)
                    if copied is not None:
                        entry.shared.add(copied)
        for (name, copy), entry in seen.items():
            # Who updates a stage that it has acquired fills it; who updates one that it waited for reads it.
            if not entry.verbs & {"acquire", "commit"} or entry.plain_wait:
                entry.reads |= entry.updates
            use = RingUse(
                task.label,
                name,
                copy,
                "acquire" in entry.verbs,
                "commit" in entry.verbs,
                "wait" in entry.verbs,
                "release" in entry.verbs,
                entry.observed and not entry.plain_wait and "release" not in entry.verbs,
                "skip" in entry.verbs,
                frozenset(entry.reads),
                frozenset(entry.writes),
            )
            found.append(Usage(use, frozenset(entry.shared)))
    return found


def loaded_bytes(memory: Memory, step: Step, touch: Touch) -> int | None:
    """Return the bytes that a load fills, absent where only the run knows them."""
    buffer = memory.buffer(touch.reference.buffer)
    return None if buffer is None or getattr(step.model, "rows", None) is not None else buffer.bytes


_RING_VERBS = frozenset(("acquire", "commit", "wait", "release", "try_acquire", "try_wait", "skip"))


def _note(entry: _Seen, step: Step) -> None:
    entry.verbs.add(step.verb)
    if step.verb == "wait":
        if getattr(step.model, "observe", None):
            entry.observed = True
        else:
            entry.plain_wait = True


def is_store_ring(memory: Memory, uses: list[RingUse]) -> bool:
    """Whether only a store engine in the committing task reads it: `wait` and `release` are not written."""
    if not memory.ring or memory.kind != "smem":
        return False
    readers = [use for use in uses if use.engine_reads]
    return (
        bool(readers)
        and all(use.engine_reads == {Engine.STORE.value} and use.commits for use in readers)
        and not any(use.waits or use.releases or use.skips for use in uses)
    )


def pipelines(
    spec: Spec,
    tasks: Mapping[str, Task],
    memories: Mapping[str, Memory],
    usages: list[Usage],
    meanings: Meanings,
    works: Mapping[str, Work],
    cluster: Mapping[str, int],
) -> dict[tuple[str, int], Pipeline]:
    """Derive the pipeline of every ring copy."""
    derived: dict[tuple[str, int], Pipeline] = {}
    for name, memory in memories.items():
        if not memory.ring:
            continue
        for copy in range(memory.copies):
            mine = [usage for usage in usages if usage.use.ring == name and usage.use.copy == copy]
            uses = [usage.use for usage in mine]
            producers = [use for use in uses if use.produces]
            consumers = [use for use in uses if use.consumes or (use.waits and not use.observes)]
            observers = [use for use in uses if use.observes]
            engines = {engine for use in producers for engine in use.engine_writes}
            reading = {engine for use in uses for engine in use.engine_reads}
            pair = spec.launch.cta_group if Engine.TCGEN05.value in reading | engines else 1
            store = is_store_ring(memory, uses)
            source = (
                "Tma"
                if Engine.TMA.value in engines
                else "Umma"
                if Engine.TCGEN05.value in engines
                else "Async"
            )
            sink = "Umma" if Engine.TCGEN05.value in reading else "Async"
            shared = tuple(sorted({one for usage in mine for one in usage.shared}))
            axes = {one.axis for one in shared}
            fulls = [arrivals(tasks[use.task], (use,), "write") for use in producers]
            empties = [arrivals(tasks[use.task], (use,), "read") for use in consumers]
            readers = (pair if sink == "Async" else 1) * _total(empties, one_of_all(memory, "read"))
            loaded = _transaction_bytes(memory, copy, [tasks[use.task] for use in producers], meanings, works)
            derived[name, copy] = Pipeline(
                ring=name,
                copy=copy,
                kind="AsyncStore" if store else source + sink,
                stages=memory.stages or 0,
                full_arrivals=_total(fulls, one_of_all(memory, "write")),
                empty_arrivals=tellers(reached(shared, tuple(cluster.items()), 0), pair) * readers,
                tx_bytes=None if loaded is None else loaded * (pair if sink == "Umma" else 1),
                producers=tuple(use.task for use in producers),
                consumers=tuple(use.task for use in consumers),
                observers=tuple(use.task for use in observers),
                multicast=tuple(axis for axis in cluster if axis in axes),
                shared=shared,
                readers=readers,
                loaded=store and Engine.TMA.value in engines,
            )
    return derived


def _total(counts: list[int], one: bool) -> int:
    return max(counts, default=0) if one else sum(counts)


def _transaction_bytes(
    memory: Memory, copy: int, producers: list[Task], meanings: Meanings, works: Mapping[str, Work]
) -> int | None:
    """Sum the bytes that loads bring a stage; `None` where brackets differ or a run-time value counts."""
    total = 0
    for task in producers:
        found = loads(memory, copy, task, meanings, works)
        amounts = {amount for _, amount in found} if found is not None else set()
        if found is None or len(amounts) > 1:
            return None
        total += amounts.pop() if amounts else 0
    return total


def loads(
    memory: Memory, copy: int, task: Task, meanings: Meanings, works: Mapping[str, Work]
) -> list[tuple[Step, int]] | None:
    """Return each `acquire` of a ring copy in a task with the bytes that TMA brings the stage.

    `None` where a load stands in another block than its `acquire`, or moves a run-time number of rows.
    """
    tally = _Tally(memory, copy, task, meanings, works)
    tally.block(task.tree, ())
    return None if tally.dynamic else list(zip(tally.acquires, tally.amounts, strict=True))


class _Tally:
    """Adds up what is loaded into the stage acquired last."""

    def __init__(
        self, memory: Memory, copy: int, task: Task, meanings: Meanings, works: Mapping[str, Work]
    ) -> None:
        self.memory, self.copy, self.task, self.meanings, self.works = memory, copy, task, meanings, works
        self.acquires: list[Step] = []
        self.amounts: list[int] = []
        self.places: list[tuple[int, ...]] = []
        self.dynamic = False

    def block(self, block: Block, place: tuple[int, ...]) -> None:
        for i, node in enumerate(block):
            if isinstance(node, Step):
                self.step(node, place)
            else:
                for j, inner in enumerate(blocks(node)):
                    self.block(inner, (*place, i, j))

    def step(self, step: Step, place: tuple[int, ...]) -> None:
        reference = operand_of(step)
        if step.verb == "acquire" and reference is not None:
            operand = self.meanings.meaning(
                reference, self.task.name, self.task.replica, step.env, step.route
            )
            if reference.name == self.memory.name and operand is not None and operand.copy == self.copy:
                self.acquires.append(step)
                self.amounts.append(0)
                self.places.append(place)
            return
        for touch in touches(step, self.meanings, self.works, self.task.name, self.task.replica):
            if touch.engine is not Engine.TMA or touch.operand is None or not touch.writes:
                continue
            if touch.operand.name != self.memory.name or touch.operand.copy != self.copy:
                continue
            buffer = self.memory.buffer(touch.reference.buffer)
            size = self.memory.stage_bytes if buffer is None else buffer.bytes
            if not self.amounts or getattr(step.model, "rows", None) is not None or self.places[-1] != place:
                self.dynamic = True
            else:
                self.amounts[-1] += size
