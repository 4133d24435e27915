"""Acquires or waits for one stage more than the ring has.

What it does
    Counts the stages of a ring that a task holds on each path: those it acquired and did not commit, and
    those it waited for and did not release.

Why is this bad
    The step waits for a stage that the task itself holds, and so for ever.

Example
    ring: {kind: smem, stages: 1, ...}
    - acquire: ring
    - acquire: ring
    - commit: ring

Use instead
    ring: {kind: smem, stages: 2, ...}
    - acquire: ring
    - acquire: ring
    - commit: ring
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.program.tree import Loop, Step, steps, walk
from tsc.rules.brackets.holds import Holds, holds, kept, text

RULE = Rule(
    "TSC311", "more-held-than-stages", Severity.ERROR, "a task holds all stages and asks for one more"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for the first step of a task that asks for a stage where it holds them all."""
    for entry in holds(program):
        ring, stages = entry.memory.name, entry.memory.stages or 0
        closing = entry.verbs("commit", "release")
        if any(held.acquired or held.waited for held in entry.ends) or not stages:
            continue  # a bracket that does not close has been reported
        if any(kept(program, step) >= stages for step in closing):
            continue  # and so has a step that never gives anything away
        for step in entry.verbs("acquire", "wait"):
            before = entry.before.get(step.index, ())
            full = [held for held in before if held.acquired + held.waited >= stages]
            if not full or getattr(step.model, "observe", None):
                continue
            others = [s for s in entry.verbs(step.verb) if s.route != step.route]
            held = "the one stage" if stages == 1 else f"all {stages} stages"
            yield Finding(
                RULE.name,
                f"`{text(step)}` asks for one more where `{entry.task.name}` holds {held} of `{ring}`"
                + ("" if len(full) == len(before) else ", on some path"),
                Place(step.route, label="waits for itself"),
                tuple(
                    Place(route, label="held from here") for route in dict.fromkeys(s.route for s in others)
                )[:3],
                help=_mend(entry, step, ring, stages),
            )
            break


def _mend(entry: Holds, step: Step, ring: str, stages: int) -> str:
    closing = "commit" if step.verb == "acquire" else "release"
    for node, above in walk(entry.task.tree):
        if node is step and (loops := [outer for outer in above if isinstance(outer, Loop)]):
            inside = [one.index for piece in loops[-1].pieces for one in steps(piece.body)]
            if not any(one.index in inside for one in entry.verbs(closing)):
                return f"put it before the loop, or `{closing}: {ring}` into it: each round takes one more"
    return f"give `{ring}` {stages + 1} stages or more, or {closing} what is held before it"
