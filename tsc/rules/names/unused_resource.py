"""Declares a resource that no task uses.

What it does
    Checks that every resource is named by a step, by a work that a step does, or as the ground of an overlay.

Why is this bad
    It takes memory and barriers, and usually a step was forgotten.

Example
    resources:
      ring: {kind: smem, stages: 4, dtype: bf16, shape: [64]}
      spare: {kind: smem, dtype: bf16, shape: [64]}

Use instead
    resources:
      ring: {kind: smem, stages: 4, dtype: bf16, shape: [64]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.model import Reference
from tsc.ops.base import StepModel
from tsc.program.model import Program
from tsc.program.names import written
from tsc.rules.names.references import unresolved
from tsc.spec.schedule import Do

RULE = Rule("TSC114", "unused-resource", Severity.ERROR, "no task uses a resource")


def used_resources(program: Program) -> set[str]:
    """Return the resources that tasks, as written, expressions or other resources name.

    A block that this build leaves out counts: a switch may not make a declaration wrong.
    """
    spec = program.spec
    used: set[str] = set()
    for task in spec.tasks.values():
        for node, _, _ in written(task.schedule, ()):
            if isinstance(node, Do) and node.do in spec.work:
                work = spec.work[node.do]
                used |= {reference.name for reference in (*work.reads, *work.writes, *work.updates)}
            elif isinstance(node, StepModel):
                values = (getattr(node, field) for field in type(node).model_fields)
                used |= {value.name for value in values if isinstance(value, Reference)}
    for name in tuple(used):
        used |= set(program.meanings.group_members(name))
    used |= {name.text for site in program.sites for name in site.expr.names}
    used |= {group.name for group in program.groups.values() if used & set(group.members)}
    used |= {memory.over.name for memory in program.memories.values() if memory.over is not None}
    return used | {getattr(model, "rows_of", None) or "" for model in spec.resources.values()}


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each resource that nothing uses; a misspelt name may be the use."""
    if unresolved(program):
        return
    used = used_resources(program)
    for name, model in program.spec.resources.items():
        if name not in used:
            yield Finding(
                RULE.name,
                f"no task uses `{name}`, of kind `{model.kind}`",
                Place(("resources", name), "key"),
                help="use it in a schedule, or take it away",
            )
