"""Releases a stage that a matrix product may still be reading.

What it does
    Follows the products of a task along every path: `wgmma_wait: n` leaves at most the n youngest groups, and
    a `release` may give no stage back that one of those left reads.

Why is this bad
    A `wgmma` only starts where its step stands. The loader overwrites the operand while the tensor core reads
    it, and the sum is a mixture of two blocks of k.

Example
    - wait: ab
    - {wgmma: acc, a: ab.a, b: ab.b}
    - wgmma_wait: 1
    - release: ab

Use instead
    - wait: ab
    - {wgmma: acc, a: ab.a, b: ab.b}
    - wgmma_wait: 1
    - {release: ab, keep: 1}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.ops.base import Engine
from tsc.program.model import Program
from tsc.rules.brackets.holds import text
from tsc.rules.brackets.pending import products, told

RULE = Rule(
    "TSC319",
    "release-before-wgmma-wait",
    Severity.ERROR,
    "a stage is released while a matrix product may still read it",
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each release that gives a stage back of which a product is pending on some path."""
    for facts in products(program):
        for it in told(program, facts, "wgmma_wait", "waits for older groups", Engine.WGMMA):
            reader = f"wgmma: {getattr(it.reader.model, 'wgmma', '')}"
            message = f"`{text(it.step)}` gives a stage back that `{reader}` may still be reading"
            yield Finding(RULE.name, message, it.place, it.related, help=it.help)
