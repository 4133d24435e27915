"""Fills a ring that no task reads.

What it does
    Checks that every ring that is committed is also waited for and released by some task, or read by a
    store engine in the task that commits it.

Why is this bad
    Once the ring is full, the producer waits for ever.

Example
    load: [acquire: ring, {tma_load: x, to: ring}, commit: ring]     # and no task waits for `ring`

Use instead
    store: [wait: ring, {tma_store: y, from: ring}, release: ring]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule("TSC171", "ring-without-consumer", Severity.ERROR, "a ring is filled and never read")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each ring copy that is committed and never waited for."""
    for (name, copy), ring in program.pipelines.items():
        uses = [use for use in program.uses if use.ring == name and use.copy == copy]
        filling = [use for use in uses if use.commits]
        if filling and not ring.store_ring and not any(use.waits or use.skips for use in uses):
            writers = ", ".join(f"`{use.task}`" for use in filling)
            copies = program.memories[name].copies
            which = f"`{name}[{copy}]`" if copies > 1 else f"`{name}`"
            yield Finding(
                RULE.name,
                f"{writers} commits {which}, and no task waits for it",
                Place(("resources", name), "key"),
                tuple(
                    Place((*program.task(use.task).route, "schedule"), "key", label="commits")
                    for use in filling[:3]
                ),
                help=f"let a task `wait` for, read and `release` `{name}`",
            )
