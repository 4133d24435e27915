"""Which held stages an engine may still read, at each release of them, on every path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tsc.diagnostics.model import Place
from tsc.ops.base import Engine
from tsc.program.conditions import Conditions
from tsc.program.model import Program
from tsc.program.paths import Walker
from tsc.program.tree import Step
from tsc.rules.brackets.holds import Holds, holds, kept, text
from tsc.rules.memo import per_program

# Of so many stages and reads the walk is told the number; whoever has more is left to the proof.
MOST_PENDING = 64


@dataclass(frozen=True, slots=True)
class Read:
    """The youngest read of a stage: its age, which counts it and what was started after it, and its step."""

    age: int
    step: int


# The stages that are held, the oldest first; nothing for one of which no read is pending.
Stages = tuple[Read | None, ...]


@dataclass(slots=True)
class Pending:
    """The releases of one ring copy in one task, each with what it gave back too early on some path."""

    entry: Holds
    early: dict[int, set[Read]] = field(default_factory=dict)  # by the release's index
    keeps: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Told:
    """A release that is too early: its step, the first that still reads, where both are, and the mend."""

    step: Step
    reader: Step
    place: Place
    related: tuple[Place, ...]
    help: str


@per_program
def stores(program: Program) -> tuple[Pending, ...]:
    """Return the facts of every ring that a store engine reads between a wait and a release."""
    return tuple(_pending(program, Engine.STORE, "store_wait"))


@per_program
def products(program: Program) -> tuple[Pending, ...]:
    """Return the facts of every ring whose stages are operands of `wgmma`."""
    return tuple(_pending(program, Engine.WGMMA, "wgmma_wait"))


def _pending(program: Program, engine: Engine, verb: str) -> Iterator[Pending]:
    for entry in holds(program):
        if not entry.store_ring and _readers(entry, engine) and entry.verbs("release"):
            facts = Pending(entry)
            if _walk(program, facts, engine, verb):
                yield facts


def _readers(entry: Holds, engine: Engine) -> set[int]:
    return {
        index
        for index, touches in entry.touches.items()
        if any(touch.engine is engine and touch.reads for touch in touches)
    }


def _walk(program: Program, facts: Pending, engine: Engine, verb: str) -> bool:
    entry = facts.entry
    starts, waits = set[int](), dict[int, int]()
    for step in entry.task.steps():
        if step.verb == verb:
            left = program.values.integer(getattr(step.model, verb), (*step.route, verb), step.env)
            waits[step.index] = max(0, left or 0)
        elif any(touch.engine is engine for touch in program.touches(step, entry.task)):
            starts.add(step.index)
    own = _readers(entry, engine)
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


def told(program: Program, facts: Pending, verb: str, label: str, engine: Engine) -> Iterator[Told]:
    """Yield the releases that give something back too early, each with its places and its mend."""
    entry, seen = facts.entry, set()
    for index, reads in sorted(facts.early.items()):
        step = entry.steps[index]
        if not reads or step.route in seen:
            continue
        seen.add(step.route)
        readers = [entry.steps[i] for i in sorted({read.step for read in reads})]
        waits = [other for other in entry.task.steps() if other.verb == verb]
        behind = f", all but {k}" if (k := facts.keeps[index]) else ""
        places = (
            *(Place(route, label="reads the stage") for route in dict.fromkeys(s.route for s in readers)),
            *(Place(route, label=label) for route in dict.fromkeys(w.route for w in waits)),
        )[:4]
        here = Place(step.route, label=f"given back here{behind}")
        yield Told(step, readers[0], here, places, _mend(program, facts, step, verb, engine))


def _mend(program: Program, facts: Pending, step: Step, verb: str, engine: Engine) -> str:
    """Say which wait is enough, and which `keep` where a wait stands directly before the release."""
    keep, each = getattr(step.model, "keep", None), len(_readers(facts.entry, engine))  # reads of a stage
    left = keep.text if keep is not None else "0"
    target = f"{verb}: {left if each == 1 else facts.keeps[step.index] * each}"
    before = next((s for s in facts.entry.task.steps() if s.index == step.index - 1), None)
    if before is None or before.verb != verb or before.route[:-1] != step.route[:-1]:
        return f"put `{target}` before it, on every path"
    running = getattr(before.model, verb)
    known = program.values.integer(running, (*before.route, verb), before.env)
    kept = running.text if each == 1 or known is None else -(-known // each)
    return f"write `{{{text(step)}, keep: {kept}}}`, or `{target}` before it"
