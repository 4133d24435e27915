"""What the generator refuses and cuts: the facts of three rules, found by planning the kernel once."""

from __future__ import annotations

from tsc.emit.assemble import complete, plan_kernel
from tsc.emit.plan import KernelPlan, Narrowed, Refusal
from tsc.program.model import Program

_last: tuple[Program | None, KernelPlan | None] = (None, None)


def _plan(program: Program) -> KernelPlan | None:
    global _last
    if _last[0] is not program:
        _last = (program, plan_kernel(program) if complete(program) else None)
    return _last[1]


def refusals(program: Program, rule: str) -> tuple[Refusal, ...]:
    """Return what cannot be lowered by a rule's name; nothing where the spec cannot be planned at all."""
    plan = _plan(program)
    return tuple(it for it in plan.refusals if it.rule == rule) if plan is not None else ()


def narrowed(program: Program) -> tuple[Narrowed, ...]:
    """Return the arguments of works whose types may cut the values given for them."""
    plan = _plan(program)
    return plan.narrowed if plan is not None else ()
