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
from tsc.program.model import Program

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
                yield Finding(
                    RULE.name,
                    f"a work lists tensors, memory and registers, and {is_a}"
                    if listed
                    else f"`{step.verb}` needs {wanted} here, and {is_a}",
                    Place(touch.route),
                    help=f"{hint}; scalars are in scope by their names"
                    if kind == "scalar" and listed
                    else hint,
                )
