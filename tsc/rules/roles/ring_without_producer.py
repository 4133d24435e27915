"""Reads a ring that no task fills.

What it does
    Checks that every ring that is waited for is also acquired and committed by some task.

Why is this bad
    The readers wait for ever.

Example
    store: [wait: ring, {tma_store: y, from: ring}, release: ring]     # and no task acquires `ring`

Use instead
    load: [acquire: ring, {tma_load: x, to: ring}, commit: ring]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule("TSC170", "ring-without-producer", Severity.ERROR, "a ring is read and never filled")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each ring copy that is waited for and never committed."""
    for (name, copy), ring in program.pipelines.items():
        uses = [use for use in program.uses if use.ring == name and use.copy == copy]
        waiting = [use for use in uses if use.waits]
        if waiting and not any(use.commits for use in uses):
            readers = ", ".join(f"`{use.task}`" for use in waiting)
            copies = program.memories[name].copies
            which = f"`{name}[{copy}]`" if copies > 1 else f"`{ring.ring}`"
            yield Finding(
                RULE.name,
                f"{readers} waits for {which}, and no task commits it",
                Place(("resources", name), "key"),
                tuple(
                    Place((*program.task(use.task).route, "schedule"), "key", label="waits")
                    for use in waiting[:3]
                ),
                help=f"let a task `acquire`, fill and `commit` `{name}`",
            )
