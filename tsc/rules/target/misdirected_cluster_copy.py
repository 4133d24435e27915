"""Copies to a CTA that is not known, or from two CTAs to one.

What it does
    Checks that `along` names an axis of `cluster`, and that `cta`, worked out for each CTA of the axis, is a
    place of it that no other one sends to.

Why is this bad
    Each stage is filled by the copies of one round, and its barrier expects as many bytes as its own CTA
    sends. Where two CTAs send to one, both write the same bytes, and somebody waits for what never comes.

Example
    launch: {cluster: {split: 4}}
    - {cluster_copy: here, to: there, along: split, cta: 0}

Use instead
    - {cluster_copy: here, to: there, along: split, cta: (cluster.split + 1) % 4}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.ops.cluster_copy import ClusterCopy
from tsc.program.model import Program
from tsc.program.sending import one_each, sent
from tsc.program.tree import Step

RULE = Rule(
    "TSC540", "misdirected-cluster-copy", Severity.ERROR, "a copy goes to no CTA, or to one that gets another"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each copy of which not every CTA along the axis receives one."""
    found: dict[Finding, None] = {}
    for task in program.tasks:
        for step in task.steps():
            if isinstance(step.model, ClusterCopy):
                found |= dict.fromkeys(_judge(program, step, step.model))
    yield from found


def _judge(program: Program, step: Step, model: ClusterCopy) -> Iterator[Finding]:
    axes, axis = dict(program.cluster), model.along
    if axis not in axes:
        known = ", ".join(f"`{name}`" for name in axes)
        yield Finding(
            RULE.name,
            f"the cluster has no axis `{axis}`" + (f", only {known}" if known else "; it has none"),
            Place((*step.route, "along")),
            help=f"write `launch: {{cluster: {{{axis}: 2}}}}`" + (f", or name {known}" if known else ""),
        )
        return
    places = sent(step, program.values, axes)
    instead = f"`cta: (cluster.{axis} + 1) % {axes[axis]}`"
    if places is None:
        yield Finding(
            RULE.name,
            f"`{model.cta.text}` says more than `cluster.{axis}` and what is known when built",
            Place((*step.route, "cta")),
            help=f"write where each CTA sends with those alone, as in {instead}",
        )
    elif not one_each(places):
        pairs = ", ".join(f"{own} to {to}" for own, to in enumerate(places))
        yield Finding(
            RULE.name,
            f"each of the {axes[axis]} CTAs along `{axis}` receives from one, and here they send {pairs}",
            Place((*step.route, "cta")),
            help=f"let each send to another one, as in {instead}",
        )
