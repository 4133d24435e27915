"""Uses two fragments as one that are shared out otherwise.

What it does
    Checks that `convert` has one tile, shared out in one way, on both sides, or equally many private values.

Why is this bad
    A thread has other rows and columns of the one than of the other, and registers do not move between
    threads.

Example
    scores: {kind: registers, dtype: f32, shape: [64, 128]}
    probs: {kind: registers, dtype: bf16, shape: [128, 64]}
    - {convert: probs, from: scores}

Use instead
    probs: {kind: registers, dtype: bf16, shape: [64, 128]}
    - {convert: probs, from: scores}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.ops.convert import Convert
from tsc.program.model import Program, RegisterSet
from tsc.rules.matrix.products import once, size

RULE = Rule("TSC228", "layouts-differ", Severity.ERROR, "two fragments used as one are shared out otherwise")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each conversion between registers that do not lie alike."""
    yield from once(_conversions(program))


def _conversions(program: Program) -> Iterator[Finding]:
    for task in program.tasks:
        for step in task.steps():
            if not isinstance(step.model, Convert):
                continue
            to = program.registers.get(step.model.convert.name)
            source = program.registers.get(step.model.from_.name)
            groups = (task.warps or 0) // 4
            if to is None or source is None or _form(program, to, groups) == _form(program, source, groups):
                continue
            own, other = _words(to, groups), _words(source, groups)
            message = f"`{to.name}` has {own}, and `{source.name}` {other}"
            places = (Place(to.route, "key", label=own), Place(source.route, "key", label=other))
            mend = f"declare `{to.name}` as `{source.name}` is, in its own dtype"
            yield Finding(RULE.name, message, Place(step.route), places, help=mend)


def _form(program: Program, one: RegisterSet, groups: int) -> tuple[object, ...]:
    if one.rows_of is not None:
        of = program.registers.get(one.rows_of)
        return ("rows", of.shape and of.shape[0], of.split) if of is not None else ("rows",)
    return (one.shape, one.split if groups > 1 else "") if one.shape is not None else (one.per_thread,)


def _words(one: RegisterSet, groups: int) -> str:
    if one.rows_of is not None:
        return f"the rows of `{one.rows_of}`"
    if one.shape is None:
        return f"{one.per_thread} value{'' if one.per_thread == 1 else 's'} a thread"
    return f"{size(one.shape)}" + (f" by {one.split}" if groups > 1 else "")
