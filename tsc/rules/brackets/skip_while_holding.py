"""Skips stages of a ring while holding one.

What it does
    Checks that a task holds no stage of a ring where it skips stages of it.

Why is this bad
    `skip` moves past stages that another consumer takes. A stage that is still held would then be
    released out of its turn.

Example
    - wait: ring
    - {skip: ring, count: k_tiles}
    - release: ring

Use instead
    - wait: ring
    - release: ring
    - {skip: ring, count: k_tiles}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.brackets.holds import holds

RULE = Rule("TSC309", "skip-while-holding", Severity.ERROR, "stages are skipped while one is held")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each skip that some path reaches with a stage held."""
    for entry in holds(program):
        if any(end.waited for end in entry.ends):
            continue  # a stage that is never released is another rule's
        for step in entry.verbs("skip"):
            if any(held.waited for held in entry.before.get(step.index, ())):
                ring = entry.memory.name
                yield Finding(
                    RULE.name,
                    f"`skip: {ring}` is reached with a stage of `{ring}` waited for and not released",
                    Place(step.route, label="a stage is held here"),
                    entry.places("wait", "waited for here"),
                    help=f"put `release: {ring}` before it",
                )
