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
from tsc.rules.roles.sides import unclear
from tsc.rules.roles.task_lists_mismatch import task_lists
from tsc.spec.wording import series

RULE = Rule("TSC172", "graph-mismatch", Severity.ERROR, "`graph` is not the graph of the schedules")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each name, node or edge in which the two graphs differ."""
    stated = program.spec.graph
    if stated is None or unclear(program):
        return
    for name, sources in stated.items():
        if name not in program.graph:
            yield _stray(program, name, Place(("graph", name), "key"))
            continue
        derived = program.graph[name]
        for i, source in enumerate(sources):
            place = Place(("graph", name, i))
            if source not in program.graph:
                yield _stray(program, source, place)
            elif source not in derived:
                made = f"it is made from {series(derived)}" if derived else "no resource flows into it"
                message = f"no task makes `{name}` from `{source}`; {made}"
                yield Finding(RULE.name, message, place, help="take the edge away, or write such a schedule")
        # A source that is not there may stand for one that is missing.
        known = all(source in program.graph for source in sources)
        for source in derived:
            if known and source not in sources:
                yield Finding(
                    RULE.name,
                    f"`{name}` is made from `{source}`, and the graph does not say so",
                    Place(("graph", name), "key"),
                    _makers(program, name, source),
                    help=f"write `{name}: [{', '.join(derived)}]`",
                )
    for name, derived in program.graph.items():
        if name not in stated:
            yield Finding(
                RULE.name,
                f"the graph leaves `{name}` out",
                Place(("graph",), "key"),
                (Place(("resources", name), "key", label="not in the graph"),),
                help=f"add `{name}: [{', '.join(derived)}]`",
            )


def _stray(program: Program, name: str, place: Place) -> Finding:
    spec = program.spec
    kind = f"`{name}` is of kind `{spec.resources[name].kind}`" if name in spec.resources else ""
    kind = kind or (f"`{name}` is a tensor" if name in program.tensors else "")
    return Finding(
        RULE.name,
        f"{kind or f'no resource is called `{name}`'}, and the graph joins `smem`, `tmem` and `signal`",
        place,
        help="take it away" if kind else did_you_mean(name, program.graph) or "take it away",
    )


def _makers(program: Program, name: str, source: str) -> tuple[Place, ...]:
    makers = (
        task
        for task in program.spec.tasks
        if name in (lists := task_lists(program, task))["writes"] and source in lists["reads"]
    )
    return tuple(
        Place(("tasks", task), "key", label=f"reads `{source}`, writes `{name}`") for task in makers
    )[:3]
