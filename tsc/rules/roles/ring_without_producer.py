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
from tsc.program.model import Program, RingUse
from tsc.rules.roles.sides import one_sided
from tsc.spec.wording import series

RULE = Rule("TSC170", "ring-without-producer", Severity.ERROR, "a ring is read and never filled")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each ring that is waited for and never filled; half a bracket is another rule's."""
    for name, uses, missing in one_sided(program, _waits, _fills):
        readers = list(dict.fromkeys(program.task(use.task).name for use in uses))
        wait = "waits" if len(readers) == 1 else "wait"
        fills = "commits" if program.memories[name].kind == "signal" else "fills"
        yield Finding(
            RULE.name,
            f"{series(readers)} {wait} for {missing}, and no task {fills} it",
            Place(("resources", name), "key"),
            tuple(Place(("tasks", reader), "key", label="waits") for reader in readers[:3]),
            help=f"let a task `acquire`, fill and `commit` `{name}`",
        )


def _waits(use: RingUse) -> bool:
    return use.waits


def _fills(use: RingUse) -> bool:
    return use.acquires or use.commits or (bool(use.engine_writes) and not use.waits)
