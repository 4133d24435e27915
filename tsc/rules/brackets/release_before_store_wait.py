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

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.ops.base import Engine
from tsc.program.model import Program
from tsc.rules.brackets.holds import named, text
from tsc.rules.brackets.pending import stores, told

RULE = Rule(
    "TSC313",
    "release-before-store-wait",
    Severity.ERROR,
    "a stage is released while a store may still read it",
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each release that gives a stage back from which a store is pending on some path."""
    for facts in stores(program):
        for it in told(program, facts, "store_wait", "waits for older stores", Engine.STORE):
            reader = named(it.reader)
            message = f"`{text(it.step)}` gives a stage back from which `{reader}` may still be reading"
            yield Finding(RULE.name, message, it.place, it.related, help=it.help)
