"""Writes the steps of the queue in another order than that of the protocol.

What it does
    Compares the order of a task's written steps with `try_acquire`, `acquire`, `fetch_work_tile`,
    `commit`, `try_wait`, `wait`, `get_and_advance_work_tile`, `release`.

Why is this bad
    A tile that is given back before it has been read may be overwritten by the next answer.

Example
    - wait: tiles
    - release: tiles
    - get_and_advance_work_tile: tiles

Use instead
    - wait: tiles
    - get_and_advance_work_tile: tiles
    - release: tiles
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.rules.queue.steps import ORDER, Written, protocols
from tsc.spec.wording import series

RULE = Rule("TSC322", "queue-steps-out-of-order", Severity.ERROR, "the steps of the queue are out of order")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each step that comes after one that it belongs before; repeats are left out."""
    for protocol in protocols(program):
        first: dict[str, Written] = {}
        for written in protocol.steps:
            first.setdefault(written.step.verb, written)
        for before, here in pairwise(first.values()):
            if ORDER.index(here.step.verb) < ORDER.index(before.step.verb):
                yield Finding(
                    RULE.name,
                    f"`{here.step.verb}: {here.queue}` stands after `{before.step.verb}`, not before it",
                    here.place,
                    (replace(before.place, label="comes first here"),),
                    help=f"write them in this order: {series(verb for verb in ORDER if verb in first)}",
                )
