"""Unrolls more rounds of a loop than an instruction cache holds.

What it does
    Checks that `unroll` is at most 64.

Why is this bad
    Every unrolled round is a copy of the body. Beyond a few dozen the code is fetched again in every round,
    and compiling it takes minutes.

Example
    - {domain_loop: k_tiles, unroll: 1000, body: [wait: ab, do: product, release: ab]}

Use instead
    - {domain_loop: k_tiles, unroll: 4, body: [wait: ab, do: product, release: ab]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.program.tree import Loop, walk

RULE = Rule("TSC215", "too-many-unrolled-rounds", Severity.ERROR, "a loop is unrolled more than 64 times")

MOST = 64


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each loop that is unrolled too often."""
    for task in program.tasks:
        for node, _ in walk(task.tree):
            if isinstance(node, Loop) and node.unroll is not None and node.unroll > MOST:
                yield Finding(
                    RULE.name,
                    f"`unroll` of `{node.kind}` is {node.unroll:,}, and the most is {MOST}",
                    Place((*node.route, "unroll")),
                    help=f"write {MOST} or less",
                )
