"""Gives a work no snippet, two of them, or a file that cannot be read.

What it does
    Checks that each work has either `cuda` or `file`, and that the file can be read next to the spec.

Why is this bad
    There is nothing to compile.

Example
    work:
      scale: {reads: [xs], writes: [y]}

Use instead
    work:
      scale:
        reads: [xs]
        writes: [y]
        cuda: |
          y(task.thread) = xs(task.thread);
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule("TSC116", "work-without-text", Severity.ERROR, "a work has no snippet, or it cannot be read")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each work without exactly one readable text."""
    for i, path in enumerate(program.spec.include):
        if program.includes[path] is None:
            yield Finding(
                RULE.name,
                f"the header `{path}` cannot be read next to the spec",
                Place(("include", i)),
                help="name a UTF-8 text file, relative to the spec",
            )
    for name, model in program.spec.work.items():
        route = ("work", name)
        if model.cuda is None and model.file is None:
            yield Finding(
                RULE.name,
                f"`{name}` has no snippet",
                Place(route, "key"),
                help="write it under `cuda: |`, or name its `file`",
            )
        elif model.cuda is not None and model.file is not None:
            yield Finding(
                RULE.name,
                f"`{name}` has both `cuda` and `file`",
                Place((*route, "file"), "key"),
                help="take one of the two away",
            )
        elif program.works[name].text is None:
            yield Finding(
                RULE.name,
                f"`{model.file}` cannot be read next to the spec",
                Place((*route, "file")),
                help="name a UTF-8 text file, relative to the spec",
            )
