"""Gives an argument of a work a value that its type does not hold.

What it does
    Bounds what `with` gives for each integer argument, by the limits of sizes, coordinates and loops, and
    compares with the argument's type. What works return and tensors hold is not judged.

Why is this bad
    The value loses its upper bits without a word, and the work touches something else.

Example
    dims: {n: {max: 1099511627776}}
    args: {base: i32}
    - {do: copy, with: {base: tile.m * 65536}}

Use instead
    args: {base: i64}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.target.lowering import narrowed

RULE = Rule("TSC529", "narrowed-argument", Severity.WARNING, "an argument may not hold what it is given")
SOUND = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each argument that may be cut."""
    for found in narrowed(program):
        below = found.low < 0 and (found.type == "u32" or found.low < -(2**31))
        extreme = found.low if below and found.high < 2**32 else found.high
        wide = "i32" if found.type == "u32" and found.low >= -(2**31) and found.high < 2**31 else "i64"
        yield Finding(
            RULE.name,
            f"`{found.argument}` of `{found.work}` is {found.type}, and `{found.text}` may be {extreme:,}",
            Place(found.route),
            help=f"declare `{found.argument}: {wide}`"
            + (", or limit the sizes under `dims`" if wide == "i64" else ""),
        )
