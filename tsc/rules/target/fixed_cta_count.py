"""Shares work among a fixed number of CTAs, whatever the device.

What it does
    Looks for a constant `ctas`, and for a constant `grid` whose size a loop strides by. One CTA is no guess
    about a device, and nobody is warned of it.

Why is this bad
    The number is that of one product: another has fewer multiprocessors, and works through a second wave, or
    more, and leaves them idle.

Example
    launch: {ctas: 132}

Use instead
    launch: {ctas: sms}
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import Expr
from tsc.program.model import Program
from tsc.program.tree import Loop, walk
from tsc.source.route import Route

RULE = Rule("TSC534", "fixed-cta-count", Severity.WARNING, "the number of CTAs fits one device only")


def check(program: Program) -> Iterator[Finding]:
    """Yield one finding where a constant number of CTAs shares the work."""
    for key, counts in (("ctas", _ctas(program)), ("grid", _grid(program))):
        if counts and None not in counts and (count := prod(c or 0 for c in counts)) > 1:
            yield Finding(
                RULE.name,
                f"the work is shared among {count:,} CTAs on every device",
                Place(("launch", key)),
                help="write `sms`, or what follows from it"
                + (", or leave `ctas` out" if key == "ctas" else ""),
            )


def _ctas(program: Program) -> list[int | None]:
    ctas, persistent = program.spec.launch.ctas, program.queue is not None and program.queue.policy != "grid"
    return [_constant(program, ctas, ("launch", "ctas"))] if ctas is not None and persistent else []


def _grid(program: Program) -> list[int | None]:
    given = program.spec.launch.grid
    loops = (node for task in program.tasks for node, _ in walk(task.tree) if isinstance(node, Loop))
    strides = any(
        name.text.startswith("grid.") for loop in loops for name in program.flat(loop.step, loop.env).names
    )
    if given is None or not strides or program.queue is not None:
        return []
    return [_constant(program, expr, ("launch", "grid", i)) for i, expr in enumerate(given)]


def _constant(program: Program, expr: Expr, route: Route) -> int | None:
    return program.values.integer(expr, route, {})
