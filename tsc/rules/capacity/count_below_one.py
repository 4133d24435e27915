"""Gives a count of stages, warps, replicas, CTAs or elements that is less than one.

What it does
    Checks the build-time counts that must be at least 1.

Why is this bad
    A ring of no stage, a task of no warp or a buffer of no element cannot be built.

Example
    ring: {kind: smem, stages: 0, dtype: bf16, shape: [64]}

Use instead
    ring: {kind: smem, stages: 2, dtype: bf16, shape: [64]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import Expr
from tsc.program.model import Program
from tsc.source.route import Route
from tsc.spec import resources as kinds

RULE = Rule("TSC209", "count-below-one", Severity.ERROR, "a count is less than one")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each count that is less than one."""
    for route, what, expr in _counts(program):
        value = program.values.integer(expr, route, {"replica": 0})
        if value is not None and value < 1:
            yield Finding(
                RULE.name,
                f"{what} is {value:,}, and must be at least 1",
                Place(route),
                help="write a positive number",
            )


def _counts(program: Program) -> Iterator[tuple[Route, str, Expr]]:
    for name, task in program.spec.tasks.items():
        for field in ("warps", "replicas"):
            value = getattr(task, field)
            if value is not None:
                yield ("tasks", name, field), f"`{field}` of `{name}`", value
    for axis, extent in program.spec.launch.cluster.items():
        yield ("launch", "cluster", axis), f"the cluster's extent along `{axis}`", extent
    for name, model in program.spec.resources.items():
        route: Route = ("resources", name)
        stages = getattr(model, "stages", None)
        if stages is not None:
            yield (*route, "stages"), f"`stages` of `{name}`", stages
        for i, extent in enumerate(getattr(model, "shape", None) or ()):
            yield (*route, "shape", i), f"an extent of `{name}`", extent
        if isinstance(model, kinds.MemoryModel):
            for key, buffer in (model.buffers or {}).items():
                for i, extent in enumerate(buffer.shape):
                    yield (*route, "buffers", key, "shape", i), f"an extent of `{name}.{key}`", extent
        if isinstance(model, kinds.Registers) and model.per_thread is not None:
            yield (*route, "per_thread"), f"`per_thread` of `{name}`", model.per_thread
