"""Reads a ring that no task fills.

What it does
    Checks that every ring that is waited for is also acquired and committed by some task, and that some step
    writes what others read.

Why is this bad
    The readers wait for ever, or read what nobody wrote.

Example
    store: [wait: ring, {tma_store: y, from: ring}, release: ring]     # and no task acquires `ring`

Use instead
    load: [acquire: ring, {tma_load: x, to: ring}, commit: ring]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.brackets.stuck import waiting
from tsc.rules.roles.sides import fills, one_sided, unwritten, waits
from tsc.spec.wording import series

RULE = Rule("TSC170", "ring-without-producer", Severity.ERROR, "a ring is read and never filled")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each ring that is waited for and never filled, or read and never written."""
    for name, uses, missing in one_sided(program, waits, fills):
        readers = list(dict.fromkeys(program.task(use.task).name for use in uses))
        wait = "waits" if len(readers) == 1 else "wait"
        act = "commits" if program.memories[name].kind == "signal" else "fills"
        yield Finding(
            RULE.name,
            f"{series(readers)} {wait} for {missing}, and no task {act} it",
            Place(("resources", name), "key"),
            waiting(program, name, {use.copy for use in uses}, "wait"),
            help=f"let a task `acquire`, fill and `commit` `{name}`",
        )
    for name, shown, reader in unwritten(program):
        filler = next(use.task for use in program.uses if use.ring == name and use.commits)
        yield Finding(
            RULE.name,
            f"`{reader}` reads `{shown}`, and no step writes to it",
            Place(("resources", name), "key"),
            (Place(("tasks", reader), "key", label=f"reads `{shown}`"),),
            help=f"let `{program.task(filler).name}` fill it between its `acquire` and its `commit`",
        )
