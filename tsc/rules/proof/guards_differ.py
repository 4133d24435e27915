"""Takes part in a ring on every path, where another task does under a condition.

What it does
    Says so where the proof finds a deadlock or a fill that nobody takes, and one task of the ring is always
    at it and another only where a condition holds.

Why is this bad
    Where the condition does not hold, one task waits for the other for ever, or what is taken later is not
    what was meant.

Example
    load:  [acquire: q, {tma_load: x, to: q}, commit: q]
    math:  [{when: n > 0, then: [wait: q, {do: use}, release: q]}]

Use instead
    load:  [{when: n > 0, then: [acquire: q, {tma_load: x, to: q}, commit: q]}]
    math:  [{when: n > 0, then: [wait: q, {do: use}, release: q]}]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.proof.faults import faults
from tsc.source.route import Route

RULE = Rule("TSC317", "guards-differ", Severity.ERROR, "a task takes part in a ring without another's guard")
PROOF = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each ring on which one task works always and another under a condition."""
    from tsc.rules.proof.guards import Difference, difference

    found: dict[str, Difference] = {}
    stuck: dict[str, dict[Route, str]] = {}
    for teller, alarm in faults(program, RULE.name):
        one = difference(teller, alarm)
        if one is not None:
            found.setdefault(one.ring, one)
            waiting = {it.where.route: teller.name(it.where.agent) for it in alarm.blocked}
            stuck.setdefault(one.ring, {}).update(waiting)
    for ring, one in found.items():
        always, sometimes = one.always, one.sometimes
        condition = one.guard.condition.text if one.guard.condition is not None else one.guard.verb
        yield Finding(
            RULE.name,
            f"`{always.task.name}` {always.does} `{ring}` on every path, and `{sometimes.task.name}` "
            f"{sometimes.does} it only where `{condition}` {'holds' if one.holds else 'does not hold'}",
            Place(always.step.route, label=f"{always.does} `{ring}` whatever `{condition}` is"),
            (
                Place(one.guard.route, "key", label=f"`{sometimes.task.name}` asks here"),
                *(Place(route, label=f"{who} waits here for ever") for route, who in stuck[ring].items()),
            ),
            help=f"put the steps of `{always.task.name}` under the same condition, or take it away in "
            f"`{sometimes.task.name}`",
        )
