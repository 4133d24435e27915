"""What the generator cannot lower, found by lowering, so that nothing is forgotten."""

from __future__ import annotations

from collections.abc import Iterator

from tsc.emit.assemble import complete, plan_kernel
from tsc.emit.plan import Refusal
from tsc.program.model import Program
from tsc.source.route import Route


def refused(program: Program) -> tuple[Refusal, ...]:
    """Return what lowering finds at fault.

    A spec with errors of its own gives nothing, because it cannot be lowered for reasons that are said
    elsewhere.
    """
    return tuple(plan_kernel(program).refusals) if complete(program) else ()


def not_generated(program: Program) -> Iterator[tuple[Route, str]]:
    """Yield the place and a sentence for each feature of the spec that is not generated yet."""
    yield from ((it.route, it.sentence) for it in refused(program) if it.rule == "not-generated")
