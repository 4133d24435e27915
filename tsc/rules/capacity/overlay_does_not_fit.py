"""Lays a resource over one that is smaller, of another kind, or itself an overlay of it.

What it does
    Compares the bytes of a resource with those of what it lies `over`, and follows overlays to their end.

Why is this bad
    The rest would lie on bytes of something else.

Example
    xs: {kind: smem, dtype: bf16, shape: [64]}
    big: {kind: smem, dtype: bf16, shape: [128], over: xs}

Use instead
    big: {kind: smem, dtype: bf16, shape: [128]}
    xs: {kind: smem, dtype: bf16, shape: [64], over: big}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.spec.resources import Over

RULE = Rule("TSC213", "overlay-does-not-fit", Severity.ERROR, "a resource does not fit on what it lies over")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each overlay that does not fit."""
    for name, memory in program.memories.items():
        if memory.over is None:
            continue
        under = program.memories.get(memory.over.name)
        nested = isinstance(getattr(program.spec.resources[name], "over", None), Over)
        place = Place((*memory.route, "over", "of") if nested else (*memory.route, "over"))
        if under is None:
            continue  # an unknown name is another rule's
        if under.kind != memory.kind or memory.offset is None:
            why = f"is of kind `{under.kind}`" if under.kind != memory.kind else "lies over it in turn"
            yield Finding(
                RULE.name,
                f"`{name}` cannot lie over `{under.name}`, which {why}",
                place,
                help="take `over` away",
            )
            continue
        if memory.over_stage is not None and not 0 <= memory.over_stage < (under.stages or 1):
            yield Finding(
                RULE.name,
                f"`{under.name}` has stages 0 to {(under.stages or 1) - 1}, "
                f"and `{name}` lies over stage {memory.over_stage}",
                place,
                help="name a stage that it has",
            )
            continue
        room = (
            under.stage_bytes
            if memory.over_stage is not None
            else under.stage_bytes * max(1, under.stages or 1)
        )
        need = memory.stage_bytes * max(1, memory.stages or 1)
        if need > room:
            yield Finding(
                RULE.name,
                f"`{name}` needs {need:,} bytes, and what it lies over, `{under.name}`, has {room:,}",
                place,
                help=f"lay `{under.name}` over `{name}` instead, or make `{name}` smaller",
            )
