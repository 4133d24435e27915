"""Leaves open whether the schedule is right.

What it does
    Reports a proof that did not come to an end: it needed more states than its budget, the schedule has
    something that the proof does not follow, or it found a fault under conditions that may contradict each
    other.

Why is this bad
    Nothing is known against the schedule, and nothing for it: it may hang or race at some size.

Example
    load: [{domain_loop: n * n // 8, body: [acquire: xs, {tma_load: x, to: xs}, commit: xs]}]
    add:  [{domain_loop: n * (n - 8) // 8 + n, body: [wait: xs, {do: add}, release: xs]}]

Use instead
    add:  [{domain_loop: n * n // 8, body: [wait: xs, {do: add}, release: xs]}]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.source.route import Route
from tsc.spec.wording import count

RULE = Rule("TSC345", "unproven", Severity.ERROR, "the schedule is neither proved nor refuted")
PROOF = True
ALLOW = "or pass `--allow-unproven`"


def check(program: Program) -> Iterator[Finding]:
    """Yield what keeps the proof open, unless faults are found: then the rest is for later."""
    from tsc.prove.judge import judged
    from tsc.prove.proof import DOUBT
    from tsc.rules.proof.doubt import doubtful
    from tsc.rules.proof.teller import Teller

    judgement = judged(program)
    if judgement.outcome != "unproven":
        return
    left_out: dict[str, list[Route]] = {}
    for route, what in judgement.translation.unmodelled:
        left_out.setdefault(what, []).append(route)
    for what, routes in left_out.items():
        others = dict.fromkeys(route for route in routes if route != routes[0])
        yield Finding(
            RULE.name,
            f"the schedule is not proved, because the proof does not follow this: {what}",
            Place(routes[0]),
            tuple(Place(route, label="and here") for route in others)[:3],
            help=f"write it in a way that can be followed, {ALLOW}",
        )
    teller = Teller(judgement)
    for alarm in judgement.doubts[:1]:  # one relation that is not seen leads to many
        yield doubtful(RULE.name, teller, alarm, ALLOW)
    verdict = judgement.verdict
    if verdict.outcome == "unproven" and not (judgement.doubts and verdict.reason == DOUBT):
        reason, budget = verdict.reason or "no end", count(judgement.budget, "state")
        met = f"more than {budget}" if reason.endswith("states") else reason
        yield Finding(
            RULE.name,
            f"the schedule is not proved: the proof met {met}",
            Place(("tasks",), "key"),
            help=f"raise the budget of {budget} with `--budget`, {ALLOW}",
        )
