"""What follows from lowering and a rule wants to say."""

from __future__ import annotations

from collections.abc import Iterator

from tsc.emit.assemble import complete, plan_kernel
from tsc.program.model import Program
from tsc.source.route import Route


def bulk_outside(program: Program) -> Iterator[tuple[Route, str]]:
    """Yield the place and a sentence for each bulk copy that is not shown to lie inside its tensor."""
    if complete(program):
        yield from ((r.route, r.sentence) for r in plan_kernel(program).refusals if r.outside)
