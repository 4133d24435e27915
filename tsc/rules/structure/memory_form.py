"""Says in two ways, or in none, what a memory resource holds.

What it does
    Checks that each resource of kind `smem` or `tmem` has either `dtype` and `shape`, or `buffers`.

Why is this bad
    With neither it has no bytes, and with both it is not known which of them a step means.

Example
    ab: {kind: smem, stages: 4, dtype: bf16, shape: [64], buffers: {b: {dtype: bf16, shape: [64]}}}

Use instead
    ab: {kind: smem, stages: 4, buffers: {a: {dtype: bf16, shape: [64]}, b: {dtype: bf16, shape: [64]}}}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.spec.resources import MemoryModel
from tsc.spec.wording import series

RULE = Rule("TSC138", "memory-form", Severity.ERROR, "memory has both `shape` and `buffers`, or neither")

_SINGLE = ("dtype", "shape", "swizzle", "align")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each memory resource that is not in one of the two forms."""
    for name, model in program.spec.resources.items():
        if not isinstance(model, MemoryModel):
            continue
        route = ("resources", name)
        single = [key for key in _SINGLE if getattr(model, key, None) is not None]
        if model.buffers is not None and single:
            yield Finding(
                RULE.name,
                f"`{name}` has `buffers`, and {series(single)} of its own beside them",
                Place((*route, single[0]), "key"),
                (Place((*route, "buffers"), "key", label="its buffers"),),
                help=f"move {series(single)} into the entries of `buffers`",
            )
        elif model.buffers == {}:
            yield Finding(
                RULE.name,
                f"`{name}` has no buffer",
                Place((*route, "buffers"), "key"),
                help="write `NAME: {dtype: ..., shape: [...]}` below it, or make it a `signal`",
            )
        elif model.buffers is None:
            missing = [key for key in ("dtype", "shape") if getattr(model, key) is None]
            if missing:
                hint = "; without storage it is a `signal`" if len(missing) == 2 else ""
                yield Finding(
                    RULE.name,
                    f"`{name}` has no {series(missing, 'and no')}",
                    Place(route, "key"),
                    help=f"write {series(missing)}, or several `buffers`{hint}",
                )
