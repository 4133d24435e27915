"""States a dependency graph that the schedules do not have.

What it does
    Compares `graph` with the derived one. If it is written it is complete: every resource of kind smem,
    tmem and signal, each with all that its content is made from.

Why is this bad
    A graph that differs from the schedules says that one of the two is not what was meant.

Example
    graph: {a_ring: [], acc: []}          # acc is made from a_ring

Use instead
    graph: {a_ring: [], acc: [a_ring]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import did_you_mean
from tsc.program.model import Program

RULE = Rule("TSC172", "graph-mismatch", Severity.ERROR, "`graph` is not the graph of the schedules")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each name, node or edge in which the two graphs differ."""
    stated = program.spec.graph
    if stated is None:
        return
    for name, sources in stated.items():
        if name not in program.graph:
            yield Finding(
                RULE.name,
                f"`{name}` is no resource of kind smem, tmem or signal",
                Place(("graph", name), "key"),
                help=did_you_mean(name, program.graph)
                or "take it away; registers are looked through, params left out",
            )
            continue
        derived = program.graph[name]
        for i, source in enumerate(sources):
            if source not in derived:
                made = ", ".join(f"`{s}`" for s in derived) or "nothing else"
                yield Finding(
                    RULE.name,
                    f"no task makes `{name}` from `{source}`; it is made from {made}",
                    Place(("graph", name, i)),
                    help="take the edge away, or write the schedule that has it",
                )
        for source in derived:
            if source not in sources:
                yield Finding(
                    RULE.name,
                    f"`{name}` is made from `{source}`, and the graph does not say so",
                    Place(("graph", name), "key"),
                    help=f"write `{name}: [{', '.join(derived)}]`",
                )
    for name, derived in program.graph.items():
        if name not in stated:
            yield Finding(
                RULE.name,
                f"the graph leaves `{name}` out",
                Place(("graph",), "key"),
                help=f"add `{name}: [{', '.join(derived)}]`",
            )
