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
from tsc.spec.schedule import Do, For, Repeat

RULE = Rule(
    "TSC109", "shadowed-name", Severity.ERROR, "a local name repeats a name that already means something"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each `as` name or token that is taken."""
    declared = {name: section for section in SECTIONS for name in getattr(program.spec, section)}
    declared |= dict.fromkeys(program.dims, "dims")
    for task, model in program.spec.tasks.items():
        for node, route, above in written(model.schedule, ("tasks", task, "schedule")):
            loops = {outer.as_ for outer in above if isinstance(outer, (For, Repeat))}
            named = [(node.as_, (*route, "as"))] if isinstance(node, (For, Repeat)) else []
            if isinstance(node, Do):
                named = [(name, (*route, "out", i)) for i, name in enumerate(node.out) if name != "_"]
            for name, where in named:
                if name in declared or name in loops:
                    other = (
                        f"is already a name of `{declared[name]}`"
                        if name in declared
                        else "is the name of a loop around it"
                    )
                    yield Finding(
                        RULE.name,
                        f"`{name}` {other}",
                        Place(where),
                        help=f"choose another name, for instance `{name}_{task}`",
                    )
