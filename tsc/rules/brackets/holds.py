"""What a task holds of each ring at each step, on every path: the facts of the bracket rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tsc.ops.base import Engine
from tsc.program.accesses import Touch
from tsc.program.expand import operand_of
from tsc.program.model import Memory, Program, Task
from tsc.program.paths import Walker
from tsc.program.tree import Step

RING_VERBS = frozenset(("acquire", "commit", "wait", "release", "try_acquire", "try_wait", "skip"))


@dataclass(frozen=True, slots=True)
class Held:
    """Stages of one ring that a task holds: acquired and not committed, waited for and not released.

    `observed` after a wait with `observe`, `committed` once anything has been committed.
    """

    acquired: int = 0
    waited: int = 0
    observed: bool = False
    committed: bool = False


@dataclass(slots=True)
class Holds:
    """One ring copy in one task: what was held before each step that concerns it, and at the end."""

    task: Task
    memory: Memory
    copy: int
    store_ring: bool
    complete: bool = True
    before: dict[int, set[Held]] = field(default_factory=dict)  # by the step's index
    steps: dict[int, Step] = field(default_factory=dict)
    touches: dict[int, list[Touch]] = field(default_factory=dict)
    ends: frozenset[Held] = frozenset()


def ring_of(program: Program, task: Task, step: Step) -> list[tuple[str, int]]:
    """Return the ring copies that a ring step names, groups looked through."""
    reference = operand_of(step)
    if reference is None or step.verb not in RING_VERBS:
        return []
    meaning = program.meaning(reference, task, step.env, step.route)
    if meaning is None:
        return []
    names = program.meanings.group_members(reference.name)
    return [(n, meaning.copy) for n in names if n in program.memories and program.memories[n].ring]


def holds(program: Program) -> Iterator[Holds]:
    """Yield the facts of every ring copy in every task that names it."""
    global _last
    if _last[0] is not program:
        _last = (program, tuple(_all(program)))
    yield from _last[1]


_last: tuple[Program | None, tuple[Holds, ...]] = (None, ())


def _all(program: Program) -> Iterator[Holds]:
    for task in program.tasks:
        concerned: dict[tuple[str, int], Holds] = {}
        for step in task.steps():
            for key in ring_of(program, task, step):
                _entry(concerned, program, task, key).steps[step.index] = step
            for touch in program.touches(step, task):
                if touch.operand is not None and touch.operand.name in program.memories:
                    key = (touch.operand.name, touch.operand.copy)
                    if program.memories[key[0]].ring:
                        entry = _entry(concerned, program, task, key)
                        entry.steps[step.index] = step
                        entry.touches.setdefault(step.index, []).append(touch)
        for entry in concerned.values():
            _walk(program, entry)
            yield entry


def _entry(found: dict[tuple[str, int], Holds], program: Program, task: Task, key: tuple[str, int]) -> Holds:
    if key not in found:
        pipeline = program.pipelines.get(key)
        found[key] = Holds(
            task, program.memories[key[0]], key[1], pipeline is not None and pipeline.store_ring
        )
    return found[key]


def _walk(program: Program, entry: Holds) -> None:
    most = max(1, entry.memory.stages or 1) + 1  # more than there are is as bad as one more

    def transfer(step: Step, held: Held) -> Held:
        entry.before.setdefault(step.index, set()).add(held)
        if (entry.memory.name, entry.copy) not in ring_of(program, entry.task, step):
            return held
        keep = 0
        if step.verb in ("commit", "release"):
            keep = (
                program.values.integer(getattr(step.model, "keep", None), (*step.route, "keep"), step.env)
                or 0
            )
        match step.verb:
            case "acquire":
                return Held(min(held.acquired + 1, most), held.waited, held.observed, held.committed)
            case "commit":
                return Held(min(held.acquired, keep), held.waited, held.observed, True)
            case "wait" if getattr(step.model, "observe", None):
                return Held(held.acquired, held.waited, True, held.committed)
            case "wait":
                return Held(held.acquired, min(held.waited + 1, most), held.observed, held.committed)
            case "release":
                return Held(held.acquired, min(held.waited, keep), held.observed, held.committed)
        return held

    walker = Walker(program, entry.task, transfer, lambda step: step.index in entry.steps)
    entry.ends = walker.run(Held())
    entry.complete = walker.complete


def is_store(touch: Touch) -> bool:
    """Whether a store engine reads here."""
    return touch.engine is Engine.STORE and touch.reads
