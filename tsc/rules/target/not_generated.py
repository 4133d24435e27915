"""Uses a feature of the language that is not generated yet.

What it does
    Plans the kernel of a spec without errors, and reports whatever the generator cannot lower, at its
    place.

Why is this bad
    The spec can be read, checked and printed, but not built: tsc never builds a kernel that leaves
    something out.

Example
    debug: {wait_timeout_ms: 100, count_tiles: true}

Use instead
    debug: {wait_timeout_ms: 100}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.target.lowering import refusals

RULE = Rule("TSC590", "not-generated", Severity.ERROR, "a feature of the language is not generated yet")
SOUND = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each feature that cannot be lowered."""
    for refusal in refusals(program, RULE.name):
        yield Finding(
            RULE.name,
            refusal.sentence,
            Place(refusal.route),
            help="write it in another way to build it now; `--ignore TSC59` checks the rest",
        )
