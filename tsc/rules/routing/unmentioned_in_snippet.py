"""Lists in a work what its snippet never mentions.

What it does
    Looks for entries of `reads`, `writes` and `updates`, and for `args`, whose name does not occur in the
    text.

Why is this bad
    The checks take the lists for what the work does: they ask for brackets around an access that is not
    there, and take registers for written that are not.

Example
    scale: {reads: [x, w], writes: [y], cuda: "y(task.thread) = 2.f * x(task.thread);"}

Use instead
    scale: {reads: [x], writes: [y], cuda: "y(task.thread) = 2.f * x(task.thread);"}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.routing.snippet import identifiers

RULE = Rule("TSC163", "unmentioned-in-snippet", Severity.WARNING, "a snippet leaves out what its work lists")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each entry that is not mentioned; a macro of an included header may hide one."""
    if program.spec.include:
        return
    for work in program.works.values():
        used = identifiers(program, work.name)
        for side in ("reads", "writes", "updates"):
            for i, ref in enumerate(getattr(work, side)):
                if work.text is not None and ref.name not in used:
                    yield Finding(
                        RULE.name,
                        f"`{work.name}` lists `{ref}`, and its snippet never mentions it",
                        Place((*work.route, side, i)),
                        help=f"take it out of `{side}`, or use it",
                    )
        for name, _ in work.args:
            if work.text is not None and name not in used:
                yield Finding(
                    RULE.name,
                    f"`{work.name}` takes `{name}`, and its snippet never mentions it",
                    Place((*work.route, "args", name), "key"),
                    help="take it out of `args`, or use it",
                )
