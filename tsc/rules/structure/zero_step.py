"""Steps a loop by zero, or by a value whose sign is not known when the kernel is built.

What it does
    Bounds the `step` of every loop by what is promised about its names, and checks that it is always
    above or always below zero.

Why is this bad
    A loop with step zero never ends, and the sign decides whether the loop runs up to its end or down.

Example
    params: {x: {dtype: f32, shape: [n]}}
    - domain_loop: 1024
      step: n
      body: [{do: scale}]

Use instead
    dims: {n: {min: 1}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import EvalError, evaluate, interval
from tsc.program.model import Program
from tsc.program.tree import Loop, walk

RULE = Rule("TSC125", "zero-step", Severity.ERROR, "a loop's step is zero, or its sign is not known")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each step that may be zero."""
    for task in program.tasks:
        for node, _ in walk(task.tree):
            if isinstance(node, Loop):
                yield from _judge(program, node)


def _judge(program: Program, node: Loop) -> Iterator[Finding]:
    flat = program.flat(node.step, node.env)
    place = Place((*node.route, "step"))
    if not flat.names:
        try:
            if evaluate(flat, {}):
                return
        except EvalError:
            return
        yield Finding(
            RULE.name,
            f"the `{node.kind}` has step 0, and never ends",
            place,
            help="write a step above or below zero, or leave it out for 1",
        )
        return
    found = interval(flat, program.ranges)
    if found.lo > 0 or found.hi < 0:
        return
    promise = next((name.text for name in flat.names if name.text in program.dims), None)
    yield Finding(
        RULE.name,
        f"the step `{node.step.text}` may be 0 or of either sign, which is not known when the kernel is built"
        if found.lo < 0
        else f"the step `{node.step.text}` may be 0",
        place,
        help=f"promise `min: 1` of `{promise}` under `dims`"
        if promise is not None and found.lo == 0
        else "write a step whose sign is known, for instance `max(1, ...)`",
    )
