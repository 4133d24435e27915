"""Counts in something that is no counter, or hears of it in something that is no bool.

What it does
    Checks the tensor of `count_in`: i32 or u32, and 0 before the first launch, which for a workspace is what
    its `zero` says; and the register of its `last`: one bool a thread.

Why is this bad
    The hardware counts in 32 bits, and a counter that begins anywhere else never comes to the last one.

Example
    workspace: {arrived: {dtype: i32, shape: [tiles]}}
    - {count_in: arrived, at: [tile.m], of: 8, last: last}

Use instead
    workspace: {arrived: {dtype: i32, shape: [tiles], zero: once}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.ops.count_in import COUNTERS, CountIn
from tsc.program.model import Program
from tsc.program.tree import Step

RULE = Rule("TSC535", "counter-of-wrong-kind", Severity.ERROR, "`count_in` counts in what is no counter")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each counter of another dtype, each that nothing clears, and each `last` that is
    no bool.
    """
    for task in program.tasks:
        for step in task.steps():
            if isinstance(step.model, CountIn):
                yield from _counter(program, step, step.model)
                yield from _last(program, step, step.model)


def _counter(program: Program, step: Step, model: CountIn) -> Iterator[Finding]:
    tensor = program.tensors.get(model.count_in.name)
    if tensor is None:
        return
    if tensor.dtype not in COUNTERS:
        yield Finding(
            RULE.name,
            f"`count_in` counts in i32 or u32, and `{tensor.name}` is {tensor.dtype}",
            Place((*step.route, "count_in")),
            (Place((*tensor.route, "dtype"), label="the dtype"),),
            help="write `dtype: i32`",
        )
    if tensor.workspace and tensor.zero == "never":
        yield Finding(
            RULE.name,
            f"`count_in` counts from 0, and nothing clears the workspace `{tensor.name}`",
            Place((*step.route, "count_in")),
            (Place(tensor.route, "key", label="declared here"),),
            help="write `zero: once`: the last one leaves the counter at 0",
        )


def _last(program: Program, step: Step, model: CountIn) -> Iterator[Finding]:
    found = program.registers.get(model.last.name)
    if found is not None and (found.dtype != "bool" or found.per_thread != 1):
        many = "a fragment" if found.per_thread is None else f"{found.per_thread} a thread"
        yield Finding(
            RULE.name,
            f"`last` of `count_in` is one bool a thread, and `{found.name}` is {many} of {found.dtype}",
            Place((*step.route, "last")),
            (Place(found.route, "key", label="declared here"),),
            help="write `{kind: registers, dtype: bool, per_thread: 1}`",
        )
