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
from tsc.rules.brackets.stuck import waiting
from tsc.rules.roles.sides import commits, one_sided, reads
from tsc.spec.wording import series

RULE = Rule("TSC171", "ring-without-consumer", Severity.ERROR, "a ring is filled and never read")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each ring that is committed and never read; half a bracket is another rule's."""
    for name, uses, missing in one_sided(program, commits, reads):
        writers = list(dict.fromkeys(program.task(use.task).name for use in uses))
        fill = "commit" if program.memories[name].kind == "signal" else "fill"
        fill += "s" if len(writers) == 1 else ""
        yield Finding(
            RULE.name,
            f"{series(writers)} {fill} {missing}, and no task waits for it",
            Place(("resources", name), "key"),
            waiting(program, name, {use.copy for use in uses}, "acquire", ", once it is full")
            or tuple(Place(("tasks", writer), "key", label="commits") for writer in writers[:3]),
            help=f"let a task `wait` for, read and `release` `{name}`",
        )
