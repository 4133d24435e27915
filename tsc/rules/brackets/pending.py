"""Which held stages a store engine may still read, at each release of them, on every path."""

from __future__ import annotations

from dataclasses import dataclass, field

from tsc.ops.base import Engine
from tsc.program.conditions import Conditions
from tsc.program.model import Program
from tsc.program.paths import Walker
from tsc.program.tree import Step
from tsc.rules.brackets.holds import Holds, holds, kept
from tsc.rules.memo import per_program

# Of so many stages and stores the walk is told the number; whoever has more is left to the proof.
MOST_PENDING = 64


@dataclass(frozen=True, slots=True)
class Read:
    """The youngest store from a stage: its age, which counts it and the stores after it, and its step."""

    age: int
    step: int


# The stages that are held, the oldest first; nothing for one from which no store is pending.
Stages = tuple[Read | None, ...]


@dataclass(slots=True)
class Pending:
    """The releases of one ring copy in one task, each with what it gave back too early on some path."""

    entry: Holds
    early: dict[int, set[Read]] = field(default_factory=dict)  # by the release's index
    keeps: dict[int, int] = field(default_factory=dict)


@per_program
def pending(program: Program) -> tuple[Pending, ...]:
    """Return the facts of every ring that a store engine reads between a wait and a release."""
    found = []
    for entry in holds(program):
        if not entry.store_ring and _stores(entry) and entry.verbs("release"):
            facts = Pending(entry)
            if _walk(program, facts):
                found.append(facts)
    return tuple(found)


def _stores(entry: Holds) -> set[int]:
    return {
        index
        for index, touches in entry.touches.items()
        if any(touch.engine is Engine.STORE and touch.reads for touch in touches)
    }


def _walk(program: Program, facts: Pending) -> bool:
    entry = facts.entry
    starts, waits = set[int](), dict[int, int]()
    for step in entry.task.steps():
        if step.verb == "store_wait":
            left = program.values.integer(step.model.store_wait, (*step.route, "store_wait"), step.env)  # type: ignore[union-attr]
            waits[step.index] = max(0, left or 0)
        elif any(touch.engine is Engine.STORE for touch in program.touches(step, entry.task)):
            starts.add(step.index)
    own = _stores(entry)
    facts.keeps = {step.index: kept(program, step) for step in entry.verbs("release")}
    oldest = 1 + max(waits.values(), default=0)
    if oldest > MOST_PENDING:
        return False

    def transfer(step: Step, stages: Stages) -> Stages:
        index = step.index
        if index in waits:
            return tuple(read if read and read.age <= waits[index] else None for read in stages)
        if index in starts:
            older = tuple(read and Read(min(read.age + 1, oldest), read.step) for read in stages)
            return (*older[:-1], Read(1, index)) if older and index in own else older
        if index not in entry.protocol:
            return stages
        if step.verb == "wait" and not getattr(step.model, "observe", None):
            return _no_more(entry.most, (*stages, None))
        if step.verb == "release":
            given = max(0, len(stages) - facts.keeps[index])
            facts.early.setdefault(index, set()).update(read for read in stages[:given] if read)
            return stages[given:]
        return stages

    concerned = starts | set(waits) | entry.protocol
    walker = Walker(program, entry.task, transfer, lambda step: step.index in concerned, Conditions(program))
    walker.run(())
    return walker.complete


def _no_more(most: int, stages: Stages) -> Stages:
    """Count stages up to `most`: the two oldest go back together, so they count as one that both are."""
    if len(stages) <= most:
        return stages
    first, second = stages[0], stages[1]
    both = min((read for read in (first, second) if read), key=lambda read: read.age, default=None)
    return (both, *stages[2:])
