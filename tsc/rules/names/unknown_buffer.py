"""Names a buffer that its ring does not have, or none where the ring has several.

What it does
    Checks `ring.buffer` against the buffers of the ring, that an operation on a ring of several buffers
    says which, and that a step of the ring itself, or an overlay, names no part of it.

Why is this bad
    The operation has no bytes to work on.

Example
    ab: {kind: smem, stages: 4, buffers: {a: {dtype: bf16, shape: [64]}, b: {dtype: bf16, shape: [64]}}}
    - {tma_load: x, at: [0], to: ab}

Use instead
    - {tma_load: x, at: [0], to: ab.a}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import closest
from tsc.expr.hints import listing
from tsc.ops.registry import BY_VERB
from tsc.program.accesses import Touch
from tsc.program.model import Program
from tsc.program.tree import Step
from tsc.rules.names.parts import parts
from tsc.rules.names.references import references

RULE = Rule("TSC108", "unknown-buffer", Severity.ERROR, "a reference names no buffer of its ring")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each reference to a buffer that is not there."""
    for found in references(program):
        ref, memory = found.reference, program.memories.get(found.name)
        if ref is None or ref.buffer is None or (memory is not None and not memory.buffers):
            continue
        several = getattr(program.spec.resources.get(found.name), "buffers", None)
        names = [*several] if several is not None else [found.name] if memory is not None else []
        single = several is None and memory is not None
        if single or (found.name in found.choices and ref.buffer not in names):
            near = closest(ref.buffer, names)
            yield Finding(
                RULE.name,
                f"`{found.name}` has no buffer `{ref.buffer}`",
                Place(found.route),
                help=f"write `{found.name}`"
                if single or not names
                else f"did you mean `{found.name}.{near}`?"
                if near
                else f"write one of {listing(f'{found.name}.{one}' for one in names)}",
            )
    for part in parts(program):
        ref = part.reference
        index = f"[{ref.index.text}]" if ref.index is not None else ""
        yield Finding(
            RULE.name,
            f"{part.said} of `{ref.name}`, and `{ref}` is a part of one",
            Place(part.route),
            help=f"write `{part.key}: {ref.name}{index}`",
        )
    for task in program.tasks:
        for step in task.steps():
            if step.verb in BY_VERB:
                yield from _unsaid(program, step, program.touches(step, task))


def _unsaid(program: Program, step: Step, touches: Iterator[Touch]) -> Iterator[Finding]:
    for touch in touches:
        ref = touch.reference
        memory = program.memories.get(ref.name)
        reserved = ref.transposed and memory is not None and memory.buffer("T") is not None
        if memory is not None and ref.buffer is None and len(memory.buffers) > 1 and not reserved:
            names = listing(f"{ref.name}.{buffer.name}" for buffer in memory.buffers)
            yield Finding(
                RULE.name,
                f"`{ref.name}` has {len(memory.buffers)} buffers, and `{step.verb}` names none of them",
                Place(touch.route),
                help=f"write one of {names}",
            )
