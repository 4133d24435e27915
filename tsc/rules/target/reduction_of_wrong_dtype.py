"""Reduces a dtype that the reduction does not know.

What it does
    Checks `op` of `tma_reduce` against the dtype of its tensor: `add` takes f32, f16, bf16, i32 and u32,
    `min` and `max` take f16, bf16, i32, u32 and i64.

Why is this bad
    The instruction faults when it runs.

Example
    params: {y: {dtype: f32, shape: [m, n]}}
    - {tma_reduce: y, at: [0, 0], from: ring, op: min}

Use instead
    - {tma_reduce: y, at: [0, 0], from: ring, op: add}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule("TSC525", "reduction-of-wrong-dtype", Severity.ERROR, "a TMA reduction does not know the dtype")

# PTX ISA, cp.reduce.async.bulk.tensor: the element types of each operation.
KNOWN = {
    "add": ("f32", "f16", "bf16", "i32", "u32"),
    "min": ("f16", "bf16", "i32", "u32", "i64"),
    "max": ("f16", "bf16", "i32", "u32", "i64"),
}


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each reduction of a dtype that its operation lacks."""
    for task in program.tasks:
        for step in task.steps():
            op = getattr(step.model, "op", None) if step.verb == "tma_reduce" else None
            for touch in program.touches(step, task) if op is not None else ():
                tensor = program.tensors.get(touch.reference.name)
                if tensor is not None and tensor.dtype not in KNOWN[str(op)]:
                    yield Finding(
                        RULE.name,
                        f"`{op}` knows {', '.join(KNOWN[str(op)])}, and `{tensor.name}` is {tensor.dtype}",
                        Place((*step.route, "op") if op != "add" else step.route),
                        (Place((*tensor.route, "dtype"), label="the dtype"),),
                        help="use another `op` or another dtype",
                    )
