"""Copies to another CTA what is not one piece, or from a stage of a ring.

What it does
    Checks that the source of a `cluster_copy` has no stages, and that the piece which the receiving buffer
    takes is one run of bytes of it: same dtype, same swizzle, whole inner dimensions, a multiple of 16 bytes.

Why is this bad
    One bulk copy moves one contiguous piece and keeps the order of its bytes. That it has read its source,
    only the receiver learns, so that a stage could not be given back.

Example
    here: {kind: smem, dtype: f32, shape: [64, 32]}
    there: {kind: smem, stages: 3, dtype: f32, shape: [64, 8]}      # columns of each row

Use instead
    here: {kind: smem, dtype: f32, shape: [4, 64, 8]}
    there: {kind: smem, stages: 3, dtype: f32, shape: [64, 8]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.ops.cluster_copy import ClusterCopy, misfit
from tsc.program.model import Operand, Program
from tsc.program.tree import Step

RULE = Rule(
    "TSC539",
    "cluster-copy-does-not-fit",
    Severity.ERROR,
    "a copy to another CTA is not one piece of a buffer",
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each copy whose two buffers do not go together."""
    found: dict[Finding, None] = {}
    for task in program.tasks:
        for step in task.steps():
            if isinstance(step.model, ClusterCopy):
                source, target = (
                    program.meaning(reference, task, step.env)
                    for reference in (step.model.cluster_copy, step.model.to)
                )
                found |= dict.fromkeys(_judge(step, step.model, source, target))
    yield from found


def _judge(
    step: Step, model: ClusterCopy, source: Operand | None, target: Operand | None
) -> Iterator[Finding]:
    if source is None or target is None or source.memory is None:
        return
    if source.memory.ring:
        yield Finding(
            RULE.name,
            f"`{model.cluster_copy}` is in a ring, and that it has been read only the receiver learns",
            Place((*step.route, "cluster_copy")),
            (Place((*source.memory.route, "stages"), label="has stages"),),
            help=f"copy from a buffer without stages: take `stages` of `{source.name}` away",
        )
    elif (
        source.buffer is not None
        and target.buffer is not None
        and (why := misfit(source.buffer, target.buffer))
    ):
        yield Finding(
            RULE.name,
            f"`{model.cluster_copy}` to `{model.to}` is not one copy: {why}",
            Place(step.route),
            tuple(
                Place(one.route, "key", label=text)
                for one, text in ((source.buffer, "copied from"), (target.buffer, "the piece"))
            ),
            help="give both one dtype and `swizzle`, and the source a dimension in front for its pieces",
        )
