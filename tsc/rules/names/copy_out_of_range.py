"""Names a copy of a `per:` resource that does not exist, or none where none is the task's own.

What it does
    Checks the index in `name[i]` against the number of copies, that only a `per:` resource is indexed,
    and that a task other than the one in `per:` says which copy it means.

Why is this bad
    The step would touch bytes or barriers of something else.

Example
    qs: {kind: smem, per: math, stages: 1, dtype: bf16, shape: [64]}     # math has 2 replicas
    - acquire: qs[2]

Use instead
    - acquire: qs[1]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.model import Reference
from tsc.program.expand import operand_of
from tsc.program.model import Program, Task
from tsc.source.route import Route

RULE = Rule("TSC113", "copy-out-of-range", Severity.ERROR, "a reference names a copy that does not exist")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each reference to a copy that is not there."""
    for task in program.tasks:
        for step in task.steps():
            reference = operand_of(step)
            if reference is not None:
                yield from _judge(program, task, reference, dict(step.env), (*step.route, step.verb))
            for touch in program.touches(step, task):
                if touch.reference is not reference:
                    yield from _judge(program, task, touch.reference, dict(step.env), touch.route)


def _judge(
    program: Program, task: Task, reference: Reference, env: dict[str, int | bool], route: Route
) -> Iterator[Finding]:
    model = program.spec.resources.get(reference.name)
    if model is None:
        return
    per = getattr(model, "per", None)
    if reference.index is not None and per is None:
        yield Finding(
            RULE.name,
            f"`{reference.name}` has one copy, and `{reference}` names one of several",
            Place(route),
            help=f"write `{reference.name}`, or give the resource `per:` a task with replicas",
        )
        return
    if per is None:
        return
    copies = max((other.replicas for other in program.tasks if other.name == per), default=1)
    if reference.index is None:
        if task.name != per and copies > 1:
            yield Finding(
                RULE.name,
                f"`{reference.name}` has a copy for each replica of `{per}`, and `{task.name}` names none",
                Place(route),
                help=f"write `{reference.name}[0]`, or repeat the step for each of the {copies}",
            )
        return
    index = program.values.integer(reference.index, route, env)
    if index is not None and not 0 <= index < copies:
        yield Finding(
            RULE.name,
            f"`{reference}` is copy {index}, and `{reference.name}` has copies 0 to {copies - 1}",
            Place(route),
            help=f"name a copy below {copies}",
        )
