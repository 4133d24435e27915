"""Keeps a stage that nobody reads any more.

What it does
    Finds a `release` whose `keep` is more than the count of the `wgmma_wait` or `store_wait` right before it.

Why is this bad
    The wait says that all but so many have been read. What is kept beyond that could be filled already: the
    ring is shorter by as many stages.

Example
    - wgmma_wait: 1
    - {release: ab, keep: 2}

Use instead
    - wgmma_wait: 1
    - {release: ab, keep: 1}
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program, Task
from tsc.program.tree import Step
from tsc.rules.matrix.products import once

RULE = Rule("TSC703", "held-longer-than-read", Severity.ADVICE, "a stage is kept after it has been read")

_WAITS = frozenset(("wgmma_wait", "store_wait"))


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each release that keeps more than may still be read."""
    yield from once(it for task in program.tasks for it in _of_task(program, task))


def _of_task(program: Program, task: Task) -> Iterator[Finding]:
    steps = list(task.steps())
    for wait, release in pairwise(steps):
        together = wait.route[:-1] == release.route[:-1]
        if wait.verb not in _WAITS or release.verb != "release" or not together:
            continue
        left, kept = _count(program, wait, wait.verb), _count(program, release, "keep")
        if left is not None and kept is not None and kept > left:
            what = ("product" if wait.verb == "wgmma_wait" else "store") + ("" if left == 1 else "s")
            yield Finding(
                RULE.name,
                f"{kept:,} stages are kept, and at most {left:,} {what} may still read one",
                Place((*release.route, "keep")),
                (Place(wait.route, label="the others are done"),),
                help=f"write `keep: {getattr(wait.model, wait.verb).text}`",
            )


def _count(program: Program, step: Step, key: str) -> int | None:
    expr = getattr(step.model, key, None)
    return program.values.integer(expr, (*step.route, key), step.env) if expr is not None else None
