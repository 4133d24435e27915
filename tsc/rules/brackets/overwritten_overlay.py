"""Reads a resource whose bytes something else has overwritten since.

What it does
    Follows each task along every path: what it writes under one name overwrites what lies on the same
    bytes, and so does a fill that it waits for. Overwritten bytes are not read before they are written.

Why is this bad
    The two names are two resources: the read gets values of the other one, perhaps of another type.

Example
    turned: {kind: smem, dtype: f32, shape: [64, 32], over: xs}
    - {do: turn}      # writes `turned`
    - {do: add}       # reads `xs`

Use instead
    - {do: add}
    - {do: turn}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.brackets.overlays import overwritten

RULE = Rule(
    "TSC315", "overwritten-overlay", Severity.ERROR, "a resource is read after its bytes were overwritten"
)
# What does not fit in shared memory may have more stages than there is time to lay out.
SOUND = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each read of what the task has overwritten under another name."""
    seen = set()
    for read in overwritten(program):
        if read.route in seen:
            continue
        seen.add(read.route)
        name, over = read.place, read.writer_place
        how = f"the fill of `{over}`" if read.fill else f"`{read.writer}` as `{over}`"
        yield Finding(
            RULE.name,
            f"`{read.reader}` reads `{name}`, and its bytes were overwritten by {how}",
            Place(read.route),
            (Place(read.writer_route, label="waited for here" if read.fill else "overwritten here"),),
            help=f"move it before `{read.writer}`, or give `{name}` bytes of its own",
        )
