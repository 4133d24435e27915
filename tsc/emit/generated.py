"""What the generator cannot lower yet, found by lowering, so that nothing is forgotten."""

from __future__ import annotations

from collections.abc import Iterator

from tsc.emit.assemble import complete, plan_kernel
from tsc.program.model import Program
from tsc.source.route import Route


def not_generated(program: Program) -> Iterator[tuple[Route, str]]:
    """Yield the place and a sentence for each feature of the spec that is not generated yet.

    A spec with errors of its own gives nothing, because it cannot be lowered for reasons that are said
    elsewhere.
    """
    if complete(program):
        yield from ((r.route, r.sentence) for r in plan_kernel(program).refusals if not r.outside)
