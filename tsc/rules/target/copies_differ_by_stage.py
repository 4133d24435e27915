"""Fills a stage by another number of copies than the next, or outside of its bracket.

What it does
    Counts the copies from other CTAs that fill a ring between each `acquire` and its `commit`, which stand in
    one block.

Why is this bad
    A CTA announces for its stage as many bytes as it sends in the same bracket, for it receives what another
    one sends there. A copy under a condition of its own would be announced where it does not come.

Example
    - acquire: there
    - {when: cluster.r > 0, then: [{cluster_copy: here, to: there, along: r, cta: (cluster.r + 1) % 2}]}
    - commit: there

Use instead
    - acquire: there
    - {cluster_copy: here, to: there, along: r, cta: (cluster.r + 1) % 2}
    - commit: there
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.ops.cluster_copy import ClusterCopy
from tsc.program.model import Program
from tsc.program.sending import copies

RULE = Rule(
    "TSC541", "copies-differ-by-stage", Severity.ERROR, "stages of a ring get different numbers of copies"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each ring whose stages do not all get as many copies, at the first copy."""
    for name, memory in program.memories.items():
        for task in program.tasks:
            first = next(
                (
                    step
                    for step in task.steps()
                    if isinstance(step.model, ClusterCopy) and step.model.to.name == name
                ),
                None,
            )
            counts = copies(task, name, 0, program.meanings) if first is not None else set()
            if first is None or not memory.ring or (len(counts) == 1 and None not in counts):
                continue
            known = " or ".join(str(count) for count in sorted(one for one in counts if one is not None))
            message = f"stages of `{name}` get {known} copies each, by where they are filled"
            if None in counts:
                message = (
                    f"a copy to `{name}` does not stand in one block with its `acquire` and its `commit`"
                )
            yield Finding(
                RULE.name,
                message,
                Place(first.route),
                help=f"write `acquire: {name}`, as many copies each time, and `commit: {name}` in one block",
            )
