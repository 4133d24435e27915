"""Gives a reference for what the kernel does not write.

What it does
    Checks that every key of `verify.reference` is a tensor param that a step writes.

Why is this bad
    There is nothing to compare with the reference, and the output that was meant is compared with nothing.

Example
    params:
      x: {dtype: f32, shape: [n]}
      y: {dtype: f32, shape: [n]}
    verify:
      reference: {x: relu(x)}

Use instead
    verify:
      reference: {y: relu(x)}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import did_you_mean
from tsc.expr.hints import listing
from tsc.program.model import Program
from tsc.rules.verify.facts import outputs, references

RULE = Rule(
    "TSC192",
    "reference-of-no-output",
    Severity.ERROR,
    "a reference is given for what the kernel does not write",
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each reference that no output belongs to."""
    given = references(program)
    there = outputs(program) if given else []
    for name in given:
        if name in there:
            continue
        if name in program.params:
            kind = "a number" if name in program.scalars else "read and never written"
            message = f"`{name}` is {kind}, and a reference is of an output"
        elif name in program.tensors:
            message = f"`{name}` is workspace, which nobody sees after the launch"
        else:
            message = f"`{name}` is no param"
        yield Finding(
            RULE.name,
            message,
            Place(("verify", "reference", name), "key"),
            help=did_you_mean(name, there)
            or (f"the kernel writes {listing(there)}" if there else "the kernel writes no param at all"),
        )
