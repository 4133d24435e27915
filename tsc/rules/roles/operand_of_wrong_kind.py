"""Gives an operation an operand that it cannot work on.

What it does
    Checks the kind of each operand of an operation: a tensor where it loads from global memory, shared
    memory where TMA writes, registers where threads compute. Works list memory, registers and tensors, no
    scalars, queues or barriers.

Why is this bad
    There is no such instruction.

Example
    - {tma_load: x, to: acc}          # acc is of kind registers

Use instead
    - {tma_load: x, to: ring}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.accesses import Touch
from tsc.program.model import Program
from tsc.program.tree import Step

RULE = Rule(
    "TSC176", "operand-of-wrong-kind", Severity.ERROR, "an operand is of a kind that the operation cannot use"
)

_WORDS = {
    "tensor": "a tensor",
    "smem": "shared memory",
    "tmem": "tensor memory",
    "registers": "registers",
    "scalar": "a scalar param",
}
_IN_WORKS = frozenset(("tensor", "smem", "tmem", "registers"))

_OTHERS = {("load", "tmem"): "tcgen05_ld", ("store", "tmem"): "tcgen05_st"}


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each operand of the wrong kind."""
    for task in program.tasks:
        for step in task.steps():
            for touch in program.touches(step, task):
                listed = step.verb == "do"
                allowed = _IN_WORKS if listed else touch.kinds
                if touch.operand is None or touch.operand.kind in allowed:
                    continue
                kind = touch.operand.kind
                is_a = f"`{touch.reference.name}` is {_WORDS.get(kind, f'of kind `{kind}`')}"
                wanted = " or ".join(_WORDS[k] for k in _WORDS if k in allowed)
                hint = f"name {wanted}" if not listed else "take it out of the list"
                hint = _instead(program, step, touch, kind) or hint
                declared = Place(("resources", touch.reference.name), "key", label="declared here")
                yield Finding(
                    RULE.name,
                    f"a work lists tensors, memory and registers, and {is_a}"
                    if listed
                    else f"`{step.verb}` needs {wanted} here, and {is_a}",
                    Place(touch.route),
                    (declared,) if touch.reference.name in program.spec.resources else (),
                    help=f"{hint}; scalars are in scope by their names"
                    if kind == "scalar" and listed
                    else hint,
                )


def _instead(program: Program, step: Step, touch: Touch, kind: str) -> str:
    """Say the edit where another verb, or another kind of resource, was meant."""
    blackwell = program.target is not None and program.target.blackwell
    name, other = touch.reference.name, _OTHERS.get((step.verb, kind), "")
    if step.verb == "wgmma" and kind == "tmem" and blackwell:
        other = "tcgen05_mma"
    if other:
        return f"write `{other}`"
    if touch.kinds == {"tmem"} and kind in ("smem", "registers") and step.verb.startswith("tcgen05"):
        return f"make `{name}` of `kind: tmem`" + (", or write `load`" if step.verb == "tcgen05_ld" else "")
    return ""
