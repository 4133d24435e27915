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

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.model import Reference
from tsc.program.expand import operand_of
from tsc.program.model import Program, Task
from tsc.rules.memo import per_program
from tsc.source.route import Route

RULE = Rule("TSC113", "copy-out-of-range", Severity.ERROR, "a reference names a copy that does not exist")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each copy that is not there, with all places of a task that name it."""
    alike: dict[tuple[str, str], list[Finding]] = {}
    for task, finding in misnamed(program):
        alike.setdefault((task, finding.message), []).append(finding)
    for first, *others in alike.values():
        places = dict.fromkeys(other.place.route for other in others if other.place != first.place)
        yield replace(first, related=tuple(Place(route, label="here too") for route in places))


@per_program
def misnamed(program: Program) -> tuple[tuple[str, Finding], ...]:
    """Return the findings with the tasks that they are about."""
    found = []
    for task in program.tasks:
        for step in task.steps():
            named = {(*step.route, step.verb): operand_of(step)}
            named |= {touch.route: touch.reference for touch in program.touches(step, task)}
            for route, reference in named.items():
                judged = _judge(program, task, reference, step.env, route) if reference is not None else None
                if judged is not None:
                    found.append((task.name, judged))
    return tuple(found)


def _judge(
    program: Program, task: Task, reference: Reference, env: Mapping[str, int | bool], route: Route
) -> Finding | None:
    name, shown = reference.name, f"`{reference.name}`"
    if name not in program.spec.resources and name not in program.spec.params:
        return None
    per = program.meanings.per(name)
    if per is None and reference.index is not None:
        return Finding(
            RULE.name,
            f"{shown} has one copy, and `{reference}` names one of several",
            Place(route),
            help=f"write {shown}"
            + (", or give the resource `per:` a task with replicas" if name in program.memories else ""),
        )
    copies = max((other.replicas for other in program.tasks if other.name == per), default=0)
    if copies == 0:
        return None  # no `per`, or an unknown task
    if reference.index is None:
        if task.name == per or copies == 1:
            return None
        return Finding(
            RULE.name,
            f"{shown} has a copy for each replica of `{per}`, and `{task.name}` names none",
            Place(route),
            help=f"write `{name}[0]`, or repeat the step for each of the {copies}",
        )
    index = program.values.integer(reference.index, route, env)
    if index is None or 0 <= index < copies:
        return None
    there = "copy 0 only" if copies == 1 else f"copies 0 to {copies - 1}"
    return Finding(
        RULE.name,
        f"`{reference}` is copy {index:,}, and {shown} has {there}",
        Place(route),
        help=f"name a copy below {copies}",
    )
