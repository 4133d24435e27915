"""The intervals of names where a step stands: what is known a launch, and the loops around it."""

from __future__ import annotations

from tsc.expr import Expr, Interval, interval
from tsc.program.conditions import parsed
from tsc.program.model import Program, Task
from tsc.program.tree import Guard, Loop, Node, Step


def ranges_at(program: Program, task: Task, above: tuple[Node, ...]) -> dict[str, Interval]:
    """Return the interval of every bounded name inside these nodes; an unbounded name is left out.

    A loop's value lies between its start and its last value, whichever way it runs.
    """
    ranges = dict(program.ranges)
    threads = max(1, task.threads)
    ranges |= {"thread": Interval(0, threads - 1), "threads": Interval(threads, threads)}
    ranges |= {"warp": Interval(0, max(0, threads // 32 - 1)), "lane": Interval(0, 31)}
    for node in above:
        if not isinstance(node, Loop):
            continue
        flat = [program.flat(expr, node.env) for expr in (node.start, node.end, node.step)]
        if any(name.text not in ranges for expr in flat for name in expr.names):
            continue
        start, end, step = (interval(expr, ranges) for expr in flat)
        if step.lo > 0:
            ranges[node.variable] = Interval(start.lo, max(start.lo, end.hi - 1))
        elif step.hi < 0:
            ranges[node.variable] = Interval(min(end.lo + 1, start.hi), start.hi)
    return ranges


def facts_at(program: Program, step: Step, above: tuple[Node, ...]) -> list[Expr]:
    """Return what holds where a step stands: what is asserted, and the conditions and loops around it."""
    facts = [program.flat(expr) for expr in program.spec.assert_]
    for node in above:
        if isinstance(node, Loop):
            start, end, stride = (program.flat(e, node.env) for e in (node.start, node.end, node.step))
            rising = interval(stride, program.ranges)
            if rising.lo > 0 or rising.hi < 0:
                to, before = ("<=", "<") if rising.lo > 0 else (">=", ">")
                facts += parsed(
                    f"({start.text}) {to} {node.variable}", f"{node.variable} {before} ({end.text})"
                )
        if isinstance(node, Guard) and node.condition is not None:
            flat, side = program.flat(node.condition, node.env), step.route[len(node.route)]
            holds = side == "then" or node.verb == "when_true"
            facts += [flat] if holds else parsed(f"not ({flat.text})")
    return facts
