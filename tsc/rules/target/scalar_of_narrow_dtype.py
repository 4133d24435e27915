"""Passes a scalar of a dtype that no argument has.

What it does
    Checks that a param without a shape is of a dtype of at least 8 bits that is no 8-bit float.

Why is this bad
    A kernel's arguments are C++ values; smaller elements exist in tensors only.

Example
    params: {scale: {dtype: e4m3}}

Use instead
    params: {scale: {dtype: f32}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule(
    "TSC532", "scalar-of-narrow-dtype", Severity.ERROR, "a scalar param has a dtype that no argument has"
)

NARROW = ("e4m3", "e5m2", "e2m1", "i4", "u4")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each scalar of such a dtype."""
    for scalar in program.scalars.values():
        if scalar.dtype in NARROW:
            wider = "f32" if scalar.dtype.startswith("e") else "i32" if scalar.dtype == "i4" else "u32"
            yield Finding(
                RULE.name,
                f"`{scalar.name}` is a scalar of {scalar.dtype}, which exists in tensors only",
                Place((*scalar.route, "dtype")),
                help=f"write `dtype: {wider}`, or give it `shape: []` to pass one element on the device",
            )
