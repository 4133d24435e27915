"""Releases a stage from which a store may still be reading.

What it does
    Follows the stores of a task along every path: `store_wait: n` leaves at most the n youngest, and a
    `release` may give no stage back from which one of those left reads.

Why is this bad
    A store only starts where its step stands. The producer overwrites the stage while the engine reads it,
    and the tensor receives bytes of a later stage.

Example
    - wait: ring
    - {tma_store: y, from: ring}
    - release: ring

Use instead
    - wait: ring
    - {tma_store: y, from: ring}
    - store_wait: 0
    - release: ring
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.program.tree import Step
from tsc.rules.brackets.holds import named, text
from tsc.rules.brackets.pending import Pending, pending

RULE = Rule(
    "TSC313",
    "release-before-store-wait",
    Severity.ERROR,
    "a stage is released while a store may still read it",
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each release that gives a stage back from which a store is pending on some path."""
    for facts in pending(program):
        entry, seen = facts.entry, set()
        for index, reads in sorted(facts.early.items()):
            step = entry.steps[index]
            if not reads or step.route in seen:
                continue
            seen.add(step.route)
            stores = [entry.steps[i] for i in sorted({read.step for read in reads})]
            waits = [other for other in entry.task.steps() if other.verb == "store_wait"]
            yield Finding(
                RULE.name,
                f"`{text(step)}` gives a stage back from which `{named(stores[0])}` may still be reading",
                Place(
                    step.route,
                    label="given back here" + (f", all but {k}" if (k := facts.keeps[index]) else ""),
                ),
                (
                    *(
                        Place(route, label="reads the stage")
                        for route in dict.fromkeys(s.route for s in stores)
                    ),
                    *(
                        Place(route, label="waits for older stores")
                        for route in dict.fromkeys(w.route for w in waits)
                    ),
                )[:4],
                help=_mend(facts, step),
            )


def _mend(facts: Pending, step: Step) -> str:
    """Say which `store_wait` is enough, and which `keep` where a wait stands directly before the release."""
    keep = getattr(step.model, "keep", None)
    target = f"store_wait: {keep.text if keep is not None else 0}"
    before = next((s for s in facts.entry.task.steps() if s.index == step.index - 1), None)
    if before is None or before.verb != "store_wait" or before.route[:-1] != step.route[:-1]:
        return f"put `{target}` before it, on every path"
    left = before.model.store_wait  # type: ignore[union-attr]
    return f"write `{{{text(step)}, keep: {left.text}}}`, or `{target}` before it"
