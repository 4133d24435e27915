"""References to copies that are not there: the facts of the rule `copy-out-of-range`."""

from __future__ import annotations

from collections.abc import Mapping

from tsc.diagnostics.model import Finding, Place
from tsc.model import Reference
from tsc.program.expand import operand_of
from tsc.program.model import Program
from tsc.rules.memo import per_program
from tsc.rules.names.references import overlay_place
from tsc.source.route import Route

NAME = "copy-out-of-range"


@per_program
def misnamed(program: Program) -> tuple[tuple[str, Finding], ...]:
    """Return the findings with the tasks that they are about."""
    found = []
    for task in program.tasks:
        for step in task.steps():
            named = {(*step.route, step.verb): operand_of(step)}
            named |= {touch.route: touch.reference for touch in program.touches(step, task)}
            for route, reference in named.items():
                if reference is not None:
                    judged = _judge(program, task.name, task.name, reference, step.env, route)
                    found += [(task.name, judged)] if judged is not None else []
    for name, memory in program.memories.items():
        if memory.over is not None:
            place = overlay_place(program, memory)
            judged = _judge(program, name, memory.per, memory.over, {}, place)
            found += [("", judged)] if judged is not None else []
    return tuple(found)


def _judge(
    program: Program,
    owner: str,
    own: str | None,
    reference: Reference,
    env: Mapping[str, int | bool],
    route: Route,
) -> Finding | None:
    """Judge a reference of a task or an overlay; `own` is the task whose copy the bare name means there."""
    name, shown = reference.name, f"`{reference.name}`"
    if name not in program.spec.resources and name not in program.spec.params:
        return None
    if name in program.groups and not set(program.groups[name].members) <= program.memories.keys():
        return None  # a group of what is not there
    per = program.meanings.per(name)
    if per is None and reference.index is not None:
        return Finding(
            NAME,
            f"{shown} has one copy, and `{reference}` names one of several",
            Place(route),
            help=f"write {shown}"
            + (", or give the resource `per:` a task with replicas" if name in program.memories else ""),
        )
    copies = max((other.replicas for other in program.tasks if other.name == per), default=0)
    asked = program.spec.tasks[per].replicas if per in program.spec.tasks else None
    if copies == 0 or (program.values.integer(asked, ()) or copies) != copies:
        return None  # no `per`, an unknown task, or a number of replicas that cannot be
    if reference.index is None:
        if own == per or copies == 1:
            return None
        others = "repeat the step for each" if owner in program.spec.tasks else f"give `{owner}` one for each"
        return Finding(
            NAME,
            f"{shown} has a copy for each replica of `{per}`, and `{owner}` names none",
            Place(route),
            help=f"write `{name}[0]`, or {others} of the {copies}"
            + ("" if owner in program.spec.tasks else f" with `per: {per}`"),
        )
    index = program.values.integer(reference.index, route, env)
    if index is None or 0 <= index < copies:
        return None
    there = "copy 0 only" if copies == 1 else f"copies 0 to {copies - 1}"
    return Finding(
        NAME,
        f"`{reference}` is copy {index:,}, and {shown} has {there}",
        Place(route),
        help=f"name a copy below {copies}",
    )
