"""What the generator refuses: the facts of two rules, found by planning the kernel once."""

from __future__ import annotations

from tsc.emit.assemble import complete, plan_kernel
from tsc.emit.plan import Refusal
from tsc.program.model import Program

_last: tuple[Program | None, tuple[Refusal, ...]] = (None, ())


def refusals(program: Program) -> tuple[Refusal, ...]:
    """Return what cannot be lowered, with its places; nothing where the spec cannot be planned at all."""
    global _last
    if _last[0] is not program:
        _last = (program, tuple(plan_kernel(program).refusals) if complete(program) else ())
    return _last[1]
