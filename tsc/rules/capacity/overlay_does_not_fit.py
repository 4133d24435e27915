"""Lays a resource over one that is smaller, of another kind, or itself an overlay of it.

What it does
    Compares the kind, the bytes and the alignment of a resource with those of what it lies `over`, and
    follows overlays to their end.

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
from tsc.program.model import Memory, Program
from tsc.program.storage import copy_on_copy
from tsc.rules.names.references import overlay_place

RULE = Rule("TSC213", "overlay-does-not-fit", Severity.ERROR, "a resource does not fit on what it lies over")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each overlay that does not fit, and one for each circle of them."""
    circled: set[str] = set()
    for name, memory in program.memories.items():
        if memory.over is None or memory.over.name not in program.spec.resources:
            continue  # an unknown name is another rule's
        circle = _circle(program, name)
        if circle and circled.isdisjoint(circle):
            way = " over ".join(f"`{link}`" for link in [*circle, circle[0]])
            yield _finding(
                program, memory, f"{way} is a circle, in which nothing has bytes", "take one `over` away"
            )
        circled |= set(circle)
        under, kind = program.memories.get(memory.over.name), program.spec.resources[memory.over.name].kind
        if under is None or under.kind != memory.kind:
            message = f"`{name}`, of kind `{memory.kind}`, cannot lie over `{memory.over}`, of kind `{kind}`"
            group = program.groups.get(memory.over.name)
            rings = f", or name one of its rings, such as `{group.members[0]}`" if group is not None else ""
            yield _finding(program, memory, message, f"take `over` away{rings}")
        elif memory.offset is not None and under.offset is not None:
            yield from _misfits(program, memory, under)


def _misfits(program: Program, memory: Memory, under: Memory) -> Iterator[Finding]:
    stage, unit = memory.over_stage, "columns" if memory.kind == "tmem" else "bytes"
    if stage is not None and not 0 <= stage < (under.stages or 0):
        there = f"stages 0 to {under.stages - 1}" if under.stages else "no `stages`"
        message = f"`{under.name}` has {there}, and `{memory.name}` lies over stage {stage}"
        help = "name a stage that it has" if under.stages else "take `stage` away"
        yield Finding(RULE.name, message, Place((*memory.route, "over", "stage")), help=help)
        return
    room = under.stage_bytes * (1 if stage is not None else max(1, under.stages or 1))
    copies = 1 if copy_on_copy(memory, under) else memory.copies
    need = memory.stage_bytes * max(1, memory.stages or 1) * copies
    if need > room:
        message = (
            f"`{memory.name}` needs {need:,} {unit}, and what it lies over, `{memory.over}`, has {room:,}"
        )
        smaller = f"make `{memory.name}` smaller"
        other = (
            "leave `stage` out" if stage is not None else f"lay `{under.name}` over `{memory.name}` instead"
        )
        yield _finding(program, memory, message, f"{other}, or {smaller}")
    elif (memory.offset or 0) % memory.align or (memory.copies > 1 and memory.copy_bytes % memory.align):
        message = (
            f"`{memory.name}` is aligned to {memory.align:,} bytes, and the place in `{under.name}` is not"
        )
        yield _finding(program, memory, message, f"write `align: {memory.align}` for `{under.name}`")


def _circle(program: Program, begin: str) -> list[str]:
    names = [begin]
    while (memory := program.memories.get(names[-1])) is not None and memory.over is not None:
        if memory.over.name == begin:
            return names
        if memory.over.name in names:
            return []
        names.append(memory.over.name)
    return []


def _finding(program: Program, memory: Memory, message: str, help: str) -> Finding:
    return Finding(RULE.name, message, Place(overlay_place(program, memory)), help=help)
