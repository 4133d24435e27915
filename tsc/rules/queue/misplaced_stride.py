"""Advances by a stride that the policy does not have, or that other tasks do not share.

What it does
    Checks that `stride` stands under `policy: static` only, and that all tasks that loop over the tiles
    advance by the same. Without `stride` a task advances by the number of clusters.

Why is this bad
    Tasks that advance differently work on different tiles at the same time. Under the other policies the
    next tile is not computed at all.

Example
    - {get_and_advance_work_tile: tiles, stride: 2 * sms}      # and the other task leaves `stride` out

Use instead
    - {get_and_advance_work_tile: tiles}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import Expr, equal
from tsc.program.model import Program, Task
from tsc.program.tree import Step, steps
from tsc.rules.queue.steps import tile_loops
from tsc.spec.schedule import GetAndAdvanceWorkTile

RULE = Rule("TSC326", "misplaced-stride", Severity.ERROR, "tasks advance over the tiles by different strides")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each stride under another policy, or unlike that of the first task."""
    found = [
        (task, step, step.model.stride)
        for task, loop in tile_loops(program)
        for step in steps(loop.body)
        if isinstance(step.model, GetAndAdvanceWorkTile)
    ]
    policy = program.queue.policy if program.queue is not None else ""
    for _, step, stride in found:
        if stride is not None and policy != "static":
            yield Finding(
                RULE.name,
                f"the policy is `{policy}`, and a `stride` is for `static`",
                Place((*step.route, "stride"), "key"),
                help="take `stride` away",
            )
    for here in found[1:] if policy == "static" else ():
        if _differ(program, found[0], here):
            yield _different(here, found[0]) if here[2] is not None else _different(found[0], here)


Advance = tuple[Task, Step, Expr | None]


def _differ(program: Program, one: Advance, two: Advance) -> bool:
    if one[2] is None or two[2] is None:
        return one[2] is not two[2]
    return not equal(program.flat(one[2], one[1].env), program.flat(two[2], two[1].env))


def _different(here: Advance, other: Advance) -> Finding:
    by = f"by `{other[2].text}`" if other[2] is not None else "without a `stride`"
    own = here[2].text if here[2] is not None else ""
    key = "stride" if other[2] is not None else other[1].verb
    return Finding(
        RULE.name,
        f"`{here[0].name}` advances by `{own}`, and `{other[0].name}` {by}",
        Place((*here[1].route, "stride")),
        (Place((*other[1].route, key), label="advances otherwise"),),
        help="give all tasks the same `stride`, or none",
    )
