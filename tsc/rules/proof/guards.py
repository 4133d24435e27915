"""Tasks of one ring of which one takes part on every path and another under a condition."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from tsc.expr import ExprError, provably
from tsc.program.model import Program, Task
from tsc.program.tree import Guard, Loop, Node, Step, walk
from tsc.prove.verdict import Alarm
from tsc.rules.brackets.holds import ring_of
from tsc.rules.proof.teller import Teller

CAUSED = frozenset(("deadlock", "leftover"))
"""Kinds of alarms that such tasks lead to."""

_SIDES = ("fills", "acquire"), ("takes", "wait")


@dataclass(frozen=True, slots=True)
class Part:
    """What a task does with a ring, at its first step of that kind."""

    task: Task
    does: str  # "fills" or "takes"
    step: Step
    above: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """`always` takes part on every path, `sometimes` only on one side of a guard."""

    ring: str
    always: Part
    sometimes: Part
    guard: Guard
    holds: bool  # where the condition holds, or where it does not


def difference(teller: Teller, alarm: Alarm) -> Difference | None:
    """Return a ring at which an alarm shows, and two of its tasks whose guards differ."""
    if alarm.kind not in CAUSED:
        return None
    program = teller.program
    for name, copy in rings(teller, alarm):
        parts = list(_parts(program, name, copy))
        for always in parts:
            if any(isinstance(node, Guard) for node in always.above):
                continue
            for sometimes in parts:
                found = _guard(program, sometimes, (name, copy))
                if found is not None and not _implied(program, found[0], always):
                    return Difference(name, always, sometimes, *found)
    return None


def rings(teller: Teller, alarm: Alarm) -> Iterator[tuple[str, int]]:
    """Yield the ring copies whose barriers an alarm is about."""
    wheres = (alarm.at, *(one.where for one in alarm.blocked))
    barriers = dict.fromkeys(where.barrier for where in wheres if where.barrier is not None)
    for barrier in barriers:
        source = teller.translation.barriers[barrier]
        for name in teller.program.meanings.group_members(source.owner):
            if (name, source.copy) in teller.program.pipelines:
                yield name, source.copy


def _parts(program: Program, name: str, copy: int) -> Iterator[Part]:
    pipeline = program.pipelines[name, copy]
    if pipeline.store_ring or program.memories[name].released_by == "one":
        return
    for (does, verb), labels in zip(_SIDES, (pipeline.producers, pipeline.consumers), strict=True):
        for label in labels:
            task = program.task(label)
            first = next(_steps(program, task, (name, copy), verb), None)
            if first is not None:
                yield Part(task, does, *first)


def _steps(
    program: Program, task: Task, ring: tuple[str, int], verb: str
) -> Iterator[tuple[Step, tuple[Node, ...]]]:
    for node, above in walk(task.tree):
        if isinstance(node, Step) and node.verb == verb and ring in ring_of(program, task, node):
            yield node, above


def _guard(program: Program, part: Part, ring: tuple[str, int]) -> tuple[Guard, bool] | None:
    """Return the `when` around all steps of a part, and whether they stand where it holds."""
    guard = next((node for node in part.above if isinstance(node, Guard)), None)
    if guard is None or guard.kind != "when" or guard.condition is None:
        return None
    verb = dict(_SIDES)[part.does]
    steps = [step.route for step, _ in _steps(program, part.task, ring, verb)]
    sides = [{node.route for node, _ in walk(side)} for side in (guard.then, guard.otherwise)]
    holds = part.step.route in sides[0]
    return (guard, holds) if all(route in sides[0 if holds else 1] for route in steps) else None


def _implied(program: Program, guard: Guard, always: Part) -> bool:
    """Whether a condition always holds, or may follow from a loop around the other task's step."""
    if guard.condition is None:
        return True
    condition = program.flat(guard.condition, guard.env)
    names = {name.text for name in condition.names}
    loops = [node for node in always.above if isinstance(node, Loop)]
    bounds = (program.flat(e, loop.env) for loop in loops for e in (loop.start, loop.end, loop.step))
    if names & {name.text for bound in bounds for name in bound.names}:
        return True
    with suppress(ExprError):
        return (
            provably(condition, program.ranges, [program.flat(expr) for expr in program.spec.assert_]) is True
        )
    return False
