"""Calls an axis `seq` or a buffer `T`.

What it does
    Checks the names of axes and buffers against the two that the language uses beside them.

Why is this bad
    `tile.seq` is the number of the tile, and `.T` exchanges the last two dimensions of an operand.

Example
    tiles: {kind: queue, policy: grid, axes: {seq: n}}

Use instead
    tiles: {kind: queue, policy: grid, axes: {row: n}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.spec.resources import MemoryModel, Queue

RULE = Rule("TSC110", "reserved-part-name", Severity.ERROR, "an axis is called `seq` or a buffer `T`")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each axis called `seq` and each buffer called `T`."""
    for name, model in program.spec.resources.items():
        if isinstance(model, Queue) and "seq" in model.axes:
            yield Finding(
                RULE.name,
                "an axis is called `seq`, and `tile.seq` is how many tiles the CTA has had before",
                Place(("resources", name, "axes", "seq"), "key"),
                help="rename the axis, for instance to `row`",
            )
        if isinstance(model, MemoryModel) and "T" in (model.buffers or {}):
            yield Finding(
                RULE.name,
                f"a buffer is called `T`, and `{name}.T` exchanges the last two dimensions",
                Place(("resources", name, "buffers", "T"), "key"),
                help="rename the buffer, for instance to `t`",
            )
