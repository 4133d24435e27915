"""Counts persistent CTAs where none is persistent.

What it does
    Checks that `ctas` stands in a kernel with a queue whose CTAs take several tiles: any policy but
    `grid`.

Why is this bad
    The count is ignored: `grid` launches one CTA a tile, and without a queue `launch.grid` says how many
    there are.

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
    if program.spec.launch.ctas is None or (queue is not None and queue.policy != "grid"):
        return
    why = "the kernel has no queue" if queue is None else "`policy: grid` launches one CTA a tile"
    related = () if queue is None else (Place((*queue.route, "policy"), label="the policy"),)
    yield Finding(
        RULE.name,
        f"`ctas` counts persistent CTAs, and {why}",
        Place(("launch", "ctas"), "key"),
        related,
        help="take `ctas` away" + ("" if queue is None else ", or write `policy: static`"),
    )
