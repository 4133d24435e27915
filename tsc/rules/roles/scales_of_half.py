"""Loads other scale factors of `b` into each CTA of a pair.

What it does
    Looks at the coordinates of loads of what is copied to the `scale_b` of a pair's `tcgen05_mma`: whether
    they are others in the second CTA of a pair than in the first.

Why is this bad
    Each CTA of a pair has half of `b`, and multiplies its rows of `a` by all of it: in its own tensor memory
    it needs the scale factors of both halves. With those of other columns every result is wrong.

Example
    launch: {cluster: {m: 2}, cta_group: 2}
    - {tma_load: scale_b, at: [tile.n * 2 + cluster.m % 2, loop * 4, 0, 0], to: ab.scale_b}

Use instead
    - {tma_load: scale_b, at: [tile.n * 2, loop * 4, 0, 0], to: ab.scale_b}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import EvalError, Expr, evaluate
from tsc.program.model import Program
from tsc.rules.roles.pair_parts import parts, places

RULE = Rule(
    "TSC184", "scales-of-half", Severity.ERROR, "the CTAs of a pair load different scale factors of `b`"
)

ELSE = 1 << 20  # any value of all that is the same in both


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each load of scale factors of `b` that is another one in each CTA."""
    for part in parts(program):
        axis = program.cluster[0][0]
        if part.side == "scale_b" and any(_differs(expr, places(axis)) for expr in part.at):
            yield Finding(
                RULE.name,
                "the CTAs of a pair load different scale factors of `b`, and each needs those of all columns",
                Place((*part.step.route, "at")),
                help=f"write coordinates that do not depend on where the CTA stands along `{axis}`",
            )


def _differs(expr: Expr, own: frozenset[str]) -> bool:
    """Whether a coordinate has another value in the second CTA of the first pair than in the first CTA."""
    try:
        first, second = (
            evaluate(expr, {name: place if name in own else ELSE for name in expr.free}) for place in (0, 1)
        )
    except EvalError:
        return False
    return first != second
