"""Gives a loop variable or a token a name that already means something.

What it does
    Checks that names given by `as` and tokens repeat neither a declared name nor one of an enclosing
    loop.

Why is this bad
    The text would read as one thing and mean another.

Example
    constants: {i: 4}
    - repeat: 2
      as: i
      body: [{do: step}]

Use instead
    constants: {COUNT: 4}
    - repeat: 2
      as: i
      body: [{do: step}]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.program.names import written
from tsc.rules.names.duplicate_name import SECTIONS
from tsc.source.route import Route
from tsc.spec.schedule import Do, For, Repeat

RULE = Rule(
    "TSC109", "shadowed-name", Severity.ERROR, "a local name repeats a name that already means something"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each `as` name or token that is taken."""
    declared: dict[str, tuple[str, Place]] = {
        name: (f"is already a name of `{section}`", Place((section, name), "key", label="declared here"))
        for section in SECTIONS
        for name in getattr(program.spec, section)
    }
    for name, dim in program.dims.items():
        declared[name] = "is already a dim", Place(dim.uses[0], label="a dim by its use here")
    for task, model in program.spec.tasks.items():
        around: dict[int, Route] = {}
        for node, route, above in written(model.schedule, ("tasks", task, "schedule")):
            around[id(node)] = route
            loops = {
                outer.as_: (
                    "is the name of a loop around it",
                    Place((*around[id(outer)], "as"), label="the loop"),
                )
                for outer in above
                if isinstance(outer, (For, Repeat))
            }
            named = [(node.as_, (*route, "as"))] if isinstance(node, (For, Repeat)) else []
            if isinstance(node, Do):
                named = [(name, (*route, "out", i)) for i, name in enumerate(node.out) if name != "_"]
            for name, where in named:
                taken = declared.get(name) or loops.get(name)
                if taken is not None:
                    message = f"`{name}` {taken[0]}"
                    help = f"choose another name, for instance `{name}_`"
                    yield Finding(RULE.name, message, Place(where), (taken[1],), help)
