"""Gives a count of stages, warps, replicas, CTAs or elements that is less than one.

What it does
    Checks the build-time counts that must be at least 1, and those that must not be negative: `first_warp`,
    extents of the grid and of tensors.

Why is this bad
    A ring of no stage, a task of no warp or a buffer of no element cannot be built.

Example
    ring: {kind: smem, stages: 0, dtype: bf16, shape: [64]}

Use instead
    ring: {kind: smem, stages: 2, dtype: bf16, shape: [64]}
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import Expr
from tsc.program.model import Program
from tsc.source.route import Route
from tsc.spec import resources as kinds
from tsc.spec.schedule import GetAndAdvanceWorkTile

RULE = Rule("TSC209", "count-below-one", Severity.ERROR, "a count is less than one")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each count that is too small."""
    for task in program.tasks:
        if task.warps is not None and task.warps < 1:
            yield _finding((*task.route, "warps"), f"`warps` of `{task.name}`", task.warps, 1)
        if task.first_warp is not None and task.first_warp < 0:
            yield _finding((*task.route, "first_warp"), f"`first_warp` of `{task.name}`", task.first_warp, 0)
    alike: dict[object, list[Finding]] = {}
    for route, what, expr, least in _counts(program):
        value = program.values.integer(expr, route)
        if value is not None and value < least:
            # One expression in several places is one mistake.
            alike.setdefault(expr.text if expr.names else route, []).append(
                _finding(route, what, value, least)
            )
    for first, *others in alike.values():
        yield replace(first, related=tuple(replace(it.place, label="and here") for it in others[:3]))


def _finding(route: Route, what: str, value: int, least: int) -> Finding:
    help = "write a positive number" if least else "write 0 or more"
    return Finding(RULE.name, f"{what} is {value:,}, and must be at least {least}", Place(route), help=help)


def _counts(program: Program) -> Iterator[tuple[Route, str, Expr, int]]:
    spec = program.spec
    for name, task in spec.tasks.items():
        if task.replicas is not None:
            yield ("tasks", name, "replicas"), f"`replicas` of `{name}`", task.replicas, 1
    for axis, extent in spec.launch.cluster.items():
        yield ("launch", "cluster", axis), f"the cluster's extent along `{axis}`", extent, 1
    if spec.launch.ctas is not None:
        yield ("launch", "ctas"), "the number of CTAs", spec.launch.ctas, 1
    for i, extent in enumerate(spec.launch.grid or ()):
        yield ("launch", "grid", i), "an extent of the grid", extent, 0
    for section in ("params", "workspace"):
        for name, tensor in getattr(spec, section).items():
            for i, extent in enumerate(tensor.shape or ()):
                yield (section, name, "shape", i), f"an extent of `{name}`", extent, 0
    for step in (step for task in program.tasks for step in task.steps()):
        if isinstance(step.model, GetAndAdvanceWorkTile) and step.model.stride is not None:
            yield (*step.route, "stride"), "the stride", step.model.stride, 1
    for name, model in spec.resources.items():
        for route, what, expr in _of_resource(name, model):
            yield ("resources", name, *route), what, expr, 1


def _of_resource(name: str, model: Any) -> Iterator[tuple[Route, str, Expr]]:
    for key in ("stages", "per_thread"):
        if getattr(model, key, None) is not None:
            yield (key,), f"`{key}` of `{name}`", getattr(model, key)
    for i, extent in enumerate(getattr(model, "shape", None) or ()):
        yield ("shape", i), f"an extent of `{name}`", extent
    if isinstance(model, kinds.MemoryModel):
        for key, buffer in (model.buffers or {}).items():
            for i, extent in enumerate(buffer.shape):
                yield ("buffers", key, "shape", i), f"an extent of `{name}.{key}`", extent
