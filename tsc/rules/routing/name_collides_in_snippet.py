"""Gives an argument or a value of a work a name that means something else in its snippet.

What it does
    Compares the names of `args` and `returns` with each other, with what the work lists, and with the
    constants, dims, lets and scalar params that a snippet sees.

Why is this bad
    In the snippet the name could mean either.

Example
    scale: {args: {y: i32}, writes: [y], cuda: "y(0) = 1.f;"}

Use instead
    scale: {args: {index: i32}, writes: [y], cuda: "y(index) = 1.f;"}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule("TSC161", "name-collides-in-snippet", Severity.ERROR, "a name means two things in a snippet")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each argument and returned value whose name is taken."""
    outer = dict.fromkeys(program.constants, "a constant") | dict.fromkeys(program.dims, "a dim")
    outer |= dict.fromkeys(program.spec.let, "a let") | dict.fromkeys(program.scalars, "a scalar param")
    for work in program.works.values():
        taken = dict(outer)
        for side in ("reads", "writes", "updates"):
            taken |= {ref.name: f"in its `{side}`" for ref in getattr(work, side)}
        for side, names in (("args", work.args), ("returns", work.returns)):
            what = "an argument" if side == "args" else "a returned value"
            for name, _ in names:
                if name in taken:
                    yield Finding(
                        RULE.name,
                        f"`{name}` is {what} of `{work.name}`, and also {taken[name]}",
                        Place((*work.route, side, name), "key"),
                        help=f"rename the {what.split()[-1]}, for instance to `{name}_`",
                    )
                taken[name] = f"one of its `{side}`"
