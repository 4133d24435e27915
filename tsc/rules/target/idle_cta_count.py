"""Counts persistent CTAs where none is persistent.

What it does
    Checks that `ctas` stands beside a queue whose CTAs are counted: `static` or `atomic`.

Why is this bad
    The count is ignored: `grid` launches one CTA a tile, and so does `clc`, whose CTAs take over others.

Example
    launch: {ctas: sms * 2}
    tiles: {kind: queue, policy: grid, axes: {m: m_tiles}}

Use instead
    launch: {ctas: sms * 2}
    tiles: {kind: queue, policy: static, axes: {m: m_tiles}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule("TSC533", "idle-cta-count", Severity.WARNING, "`ctas` counts persistent CTAs, and there are none")


def check(program: Program) -> Iterator[Finding]:
    """Yield one finding where the count has no effect."""
    queue = program.queue
    if program.spec.launch.ctas is not None and queue is not None and queue.policy in ("grid", "clc"):
        yield Finding(
            RULE.name,
            f"`ctas` counts persistent CTAs, and `policy: {queue.policy}` launches one CTA a tile",
            Place(("launch", "ctas"), "key"),
            (Place((*queue.route, "policy"), label="the policy"),),
            help="take `ctas` away, or write `policy: static`",
        )
