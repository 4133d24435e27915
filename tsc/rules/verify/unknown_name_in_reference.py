"""Names in a reference what the kernel does not take.

What it does
    Looks every name of `verify.reference` up among params, dims and constants.

Why is this bad
    The reference has no value. Buffers, lets and workspaces are the kernel's own, and what it computes is
    said without them.

Example
    params:
      x: {dtype: f32, shape: [n]}
      y: {dtype: f32, shape: [n]}
    verify:
      reference: {y: relu(X)}

Use instead
    verify:
      reference: {y: relu(x)}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import did_you_mean
from tsc.expr.hints import listing
from tsc.notation import names
from tsc.program.model import Program
from tsc.rules.verify.facts import names_known, readable

RULE = Rule(
    "TSC191", "unknown-name-in-reference", Severity.ERROR, "a reference names what the kernel does not take"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each name that a reference cannot have, at its first use."""
    known = names_known(program)
    for output, tree in readable(program):
        told = set()
        for ref in names(tree):
            if ref.name in known or ref.name in told:
                continue
            told.add(ref.name)
            yield Finding(
                RULE.name,
                f"`{ref.name}` is no param, no dim and no constant",
                Place(("verify", "reference", output), within=(ref.start, ref.end)),
                help=did_you_mean(ref.name, known) or f"the kernel takes {listing(program.params)}",
            )
