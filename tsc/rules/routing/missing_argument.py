"""Leaves out an argument that a work takes.

What it does
    Checks that `with` has a value for each of the `args` of the work.

Why is this bad
    The snippet would compute with a value that nobody gave.

Example
    scale: {args: {row: i32}, writes: [y], cuda: "y(row) = 1.f;"}
    - do: scale

Use instead
    - {do: scale, with: {row: tile.m}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.structure.spots import spots
from tsc.spec.schedule import Do
from tsc.spec.wording import series

RULE = Rule("TSC154", "missing-argument", Severity.ERROR, "a step gives a work too few arguments")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each step that leaves arguments out."""
    for spot in spots(program):
        work = program.works.get(spot.node.do) if isinstance(spot.node, Do) else None
        if work is None:
            continue
        missing = [name for name, _ in work.args if name not in spot.node.with_]
        if missing:
            pairs = ", ".join(f"{name}: ..." for name in missing)
            it = "it" if len(missing) == 1 else "them"
            yield Finding(
                RULE.name,
                f"`{work.name}` takes {series(missing)}, and this step gives no value for {it}",
                spot.at("do"),
                (Place((*work.route, "args", missing[0]), "key", label="taken here"),),
                help=f"add `{pairs}` to its `with`" if spot.node.with_ else f"add `with: {{{pairs}}}`",
            )
