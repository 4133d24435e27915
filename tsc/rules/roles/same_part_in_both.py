"""Loads the same part of an operand into both CTAs of a pair.

What it does
    Looks at the coordinates of loads whose buffer is an operand of a pair's `tcgen05_mma`, or has the scale
    factors of `a`: whether any depends on where the CTA stands along the axis of the pair.

Why is this bad
    Each CTA of a pair has its own rows of `a`, with their scale factors, and its own half of `b`. With the
    same coordinates, or one box for both by `multicast`, half of the product is made twice and the other half
    is missing.

Example
    launch: {cluster: {m: 2}, cta_group: 2}
    - {tma_load: b, at: [tile.n * BN, loop * BK], to: ab.b}

Use instead
    - {tma_load: b, at: [tile.n * BN + cluster.m % 2 * (BN // 2), loop * BK], to: ab.b}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.roles.pair_parts import moved_in_pair, parts, places

RULE = Rule("TSC183", "same-part-in-both", Severity.ERROR, "both CTAs of a pair load one part of an operand")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each load of an operand that is the same in both CTAs."""
    for part in parts(program):
        axis = program.cluster[0][0]
        there = part.names & places(axis)
        if part.side == "scale_b" or (there and any(moved_in_pair(program, part) or (1,))):
            continue
        half = "its half of the columns" if part.side == "b" else "rows of its own"
        yield Finding(
            RULE.name,
            f"both CTAs of a pair load the same, and each has {half} in the product",
            Place((*part.step.route, "at")),
            help=f"let a coordinate depend on `cluster.{axis} % 2`",
        )
