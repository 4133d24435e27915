"""Issues the products of a pair of CTAs in both of them.

What it does
    Looks, where `cta_group` is 2, for tasks with a `tcgen05_mma` or `tcgen05_cp` that `ctas: all` puts into
    both CTAs.

Why is this bad
    All tensor cores of a kernel work in one way, alone or in pairs. A product of a pair takes the operands of
    both CTAs and fills the tensor memory of both, as a copy of scale factors does, so that issued in both it
    is made twice. What it waits for is counted in the leader alone: the other CTA waits for ever.

Example
    launch: {cluster: {m: 2}, cta_group: 2}
    mma: {warps: 1, ctas: all, schedule: [..., {tcgen05_mma: acc, a: ab.a, b: ab.b}, ...]}

Use instead
    mma: {warps: 1, schedule: [..., {tcgen05_mma: acc, a: ab.a, b: ab.b}, ...]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule(
    "TSC181", "product-outside-leader", Severity.ERROR, "both CTAs of a pair issue the products of the pair"
)

MADE = {"tcgen05_mma": "products", "tcgen05_cp": "copies of scale factors"}


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each task that issues products of a pair in both of its CTAs."""
    if program.spec.launch.cta_group != 2:
        return
    for name in dict.fromkeys(task.name for task in program.tasks if task.ctas == "all"):
        issues = (
            step for task in program.tasks for step in task.steps() if task.name == name and step.verb in MADE
        )
        step = next(issues, None)
        if step is not None:
            yield Finding(
                RULE.name,
                f"`{name}` runs in both CTAs of a pair, and its {MADE[step.verb]} are of both: the leader "
                "issues them",
                Place(("tasks", name, "ctas")),
                (Place(step.route, label="takes the operands of both CTAs"),),
                help="write `ctas: leader`, or take `ctas` away: it is derived",
            )
