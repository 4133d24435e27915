"""Gives `every` a period or a first round that no loop has.

What it does
    Checks that the period is at least 1, its start at least 0, and both below 2^31.

Why is this bad
    Rounds are counted from zero, as 32-bit integers. A period of zero has no next round.

Example
    - every: 0
      body: [{do: flush}]

Use instead
    - every: 4
      body: [{do: flush}]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.program.tree import Guard, walk

RULE = Rule("TSC133", "period-out-of-range", Severity.ERROR, "the period of an `every` is out of range")

MOST = 2**31 - 1


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each period or start that is out of range."""
    for task in program.tasks:
        for node, _ in walk(task.tree):
            if not isinstance(node, Guard) or node.kind != "every":
                continue
            for key, value, least in (("every", node.period, 1), ("start", node.start, 0)):
                if value is None or least <= value <= MOST:
                    continue
                what = "period" if key == "every" else "first round"
                yield Finding(
                    RULE.name,
                    f"the {what} of `every` is {value:,}, and the "
                    + (f"least is {least}" if value < least else f"most is {MOST:,}"),
                    Place((*node.route, key)),
                    help=f"write a number from {least} on" if value < least else "write a smaller number",
                )
