"""Lists one thing twice in a work.

What it does
    Checks that no tensor, buffer or register set stands twice in `reads`, `writes` and `updates`, by
    itself or as part of a ring that is listed whole.

Why is this bad
    The lists become the parameters of a function, and each has one view.

Example
    scale: {reads: [y], writes: [y], cuda: "y(0) = 2.f * y(0);"}

Use instead
    scale: {updates: [y], cuda: "y(0) = 2.f * y(0);"}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.model import Reference
from tsc.program.model import Program

RULE = Rule("TSC162", "listed-twice", Severity.ERROR, "a work lists one thing twice")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each entry that a list before it covers or that covers one before it."""
    for work in program.works.values():
        before: list[tuple[str, int, Reference]] = []
        for side in ("reads", "writes", "updates"):
            for i, ref in enumerate(getattr(work, side)):
                other = next((it for it in before if _same(it[2], ref)), None)
                before.append((side, i, ref))
                if other is None:
                    continue
                both = other[0] != side
                yield Finding(
                    RULE.name,
                    f"`{work.name}` lists `{ref}` in `{side}`, and `{other[2]}` in `{other[0]}`",
                    Place((*work.route, side, i)),
                    (Place((*work.route, other[0], other[1]), label="listed here first"),),
                    help=f"write `{ref}` in `updates` alone" if both else "take one of the two away",
                )


def _same(one: Reference, two: Reference) -> bool:
    if one.name != two.name or (one.index and one.index.text) != (two.index and two.index.text):
        return False
    return one.buffer is None or two.buffer is None or one.buffer == two.buffer
