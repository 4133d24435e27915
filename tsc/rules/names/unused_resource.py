"""Declares a resource that no task uses.

What it does
    Checks that every resource is named by a step, or by a work that a step does.

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
from tsc.program.expand import operand_of
from tsc.program.model import Program
from tsc.program.tree import TileLoop, walk

RULE = Rule("TSC114", "unused-resource", Severity.ERROR, "no task uses a resource")


def used_resources(program: Program) -> set[str]:
    """Return the resources that some task touches, waits for, or mentions in an expression."""
    used: set[str] = set()
    for task in program.tasks:
        for node, _ in walk(task.tree):
            if isinstance(node, TileLoop):
                used.add(node.queue)
        for step in task.steps():
            reference = operand_of(step)
            if reference is not None:
                used |= {reference.name, *program.meanings.group_members(reference.name)}
            used |= {touch.reference.name for touch in program.touches(step, task)}
    used |= {name.text for site in program.sites for name in site.expr.names}
    used |= {group.name for group in program.groups.values() if used & set(group.members)}
    return used | {getattr(model, "rows_of", None) or "" for model in program.spec.resources.values()}


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each resource that nothing uses."""
    used = used_resources(program)
    for name, model in program.spec.resources.items():
        if name not in used:
            yield Finding(
                RULE.name,
                f"no task uses `{name}`, of kind `{model.kind}`",
                Place(("resources", name), "key"),
                help="use it in a schedule, or take it away",
            )
