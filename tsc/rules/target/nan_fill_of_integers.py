"""Fills with NaN what has none.

What it does
    Checks that a `tma_load` with `fill: nan` reads a tensor whose elements a tensor map knows as floats:
    `f16`, `bf16`, `f32`, `tf32` or `f64`. It knows 8-bit floats as bytes.

Why is this bad
    The driver makes no such tensor map, so that every call of the kernel would fail.

Example
    params: {x: {dtype: i32, shape: [n]}}
    - {tma_load: x, at: [block.x * 64], to: ring, fill: nan}

Use instead
    - {tma_load: x, at: [block.x * 64], to: ring, fill: zero}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.ops.tma_load import TmaLoad
from tsc.program.model import Program

RULE = Rule("TSC527", "nan-fill-of-integers", Severity.ERROR, "a load fills with NaN what has none")

FLOATS = ("f16", "bf16", "f32", "tf32", "f64")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each load that fills a tensor of other elements with NaN."""
    seen = set()
    for task in program.tasks:
        for step in task.steps():
            model = step.model
            if not isinstance(model, TmaLoad) or model.fill != "nan" or step.route in seen:
                continue
            seen.add(step.route)
            tensor = program.tensors.get(model.tma_load.name)
            if tensor is not None and tensor.dtype not in FLOATS:
                yield Finding(
                    RULE.name,
                    f"`{tensor.name}` holds {tensor.dtype}, which a tensor map cannot fill with NaN",
                    Place((*step.route, "fill")),
                    help="write `fill: zero`, or leave it out",
                )
