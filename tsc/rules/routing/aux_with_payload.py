"""Calls a work bookkeeping that touches the stages of a ring.

What it does
    Checks that a work with `aux: true` lists no memory that has `stages`.

Why is this bad
    Such a work may stand outside any bracket, where the stages belong to somebody else.

Example
    note: {aux: true, writes: [ring], cuda: "ring(0) = 1.f;"}

Use instead
    note: {writes: [ring], cuda: "ring(0) = 1.f;"}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule("TSC164", "aux-with-payload", Severity.ERROR, "a work of bookkeeping touches payload")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each ring in the lists of a work that is `aux`."""
    for work in program.works.values():
        for side in ("reads", "writes", "updates") if work.aux else ():
            for i, ref in enumerate(getattr(work, side)):
                memory = program.memories.get(ref.name)
                if memory is not None and memory.ring:
                    yield Finding(
                        RULE.name,
                        f"`{work.name}` is `aux`, and touches the stages of `{ref.name}`",
                        Place((*work.route, side, i)),
                        (Place((*work.route, "aux"), label="bookkeeping"),),
                        help="take `aux` away, and put the step inside the ring's bracket",
                    )
