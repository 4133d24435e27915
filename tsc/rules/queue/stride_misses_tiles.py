"""Advances over the tiles by another stride than there are clusters.

What it does
    Compares `stride` with the number of clusters that `ctas` asks for. Without `ctas` that number is the
    device's.

Why is this bad
    Cluster i begins with tile i. Tiles are left out where the stride is larger than the number of clusters,
    and done twice where it is smaller.

Example
    - {get_and_advance_work_tile: tiles, stride: 2 * sms}

Use instead
    launch: {ctas: 2 * sms}
    - {get_and_advance_work_tile: tiles, stride: 2 * sms}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import equal, parse
from tsc.program.model import Program
from tsc.program.tree import steps
from tsc.rules.queue.steps import tile_loops
from tsc.spec.schedule import GetAndAdvanceWorkTile

RULE = Rule("TSC332", "stride-misses-tiles", Severity.ERROR, "a stride is not the number of clusters")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for the first stride that is not the number of clusters, if all tasks have one."""
    queue, ctas = program.queue, program.spec.launch.ctas
    if queue is None or queue.policy != "static":
        return
    found = [
        (task, step, program.flat(step.model.stride, step.env))
        for task, loop in tile_loops(program)
        for step in steps(loop.body)
        if isinstance(step.model, GetAndAdvanceWorkTile) and step.model.stride is not None
    ]
    if not found or len(found) < len(list(tile_loops(program))):
        return  # another rule's
    task, step, stride = found[0]
    if any(not equal(stride, other) for _, _, other in found[1:]) or (stride.value or 1) < 1:
        return
    size = program.cluster_size
    text = getattr(step.model, "stride", stride).text
    route = (*step.route, "stride")
    if ctas is None:
        yield Finding(
            RULE.name,
            f"`{task.name}` advances by `{text}`, and the number of clusters is the device's",
            Place(route),
            help=f"write `ctas: {f'({text}) * {size}' if size > 1 else text}` in `launch`, "
            "or leave `stride` out",
        )
        return
    clusters = program.flat(parse(f"({ctas.text}) // {size}"))
    if not equal(stride, clusters) and not equal(
        program.flat(parse(f"({text}) * {size}")), program.flat(ctas)
    ):
        yield Finding(
            RULE.name,
            f"`{task.name}` advances by `{text}`, and there are `{clusters.text}` clusters",
            Place(route),
            (Place(("launch", "ctas"), label="the CTAs"),),
            help=f"write `stride: {clusters.text}`, or leave it out",
        )
