"""Writes a reference that is not in array notation.

What it does
    Reads every expression of `verify.reference`. The notation has names, numbers, `@ + - * /`, comparisons,
    `.T` and `.mT`, and the functions `softmax causal relu gelu silu sigmoid tanh exp rsqrt max mean sum
    where`; reductions go over the last axis and keep it.

Why is this bad
    Nothing can be compared with it. The rest of what NumPy has is for `verify.python`.

Example
    verify:
      reference: {y: sqrt(x)}

Use instead
    verify:
      reference: {y: 1 / rsqrt(x)}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.notation import NotationError
from tsc.program.model import Program
from tsc.rules.verify.facts import references

RULE = Rule("TSC190", "unreadable-reference", Severity.ERROR, "a reference is not in array notation")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each reference that cannot be read."""
    for name, read in references(program).items():
        if isinstance(read, NotationError):
            place = Place(("verify", "reference", name), within=(read.start, read.end))
            yield Finding(RULE.name, read.message, place, help=read.help)
