"""Reads registers that some path has not written.

What it does
    Follows every path through the schedule and checks that registers have been written where an operation,
    a work or an expression reads them. `wgmma` reads its accumulator where `accumulate` holds in the first
    round of its loop.

Why is this bad
    Registers begin with whatever the task before left in them.

Example
    - domain_loop: k_tiles
      body:
        - {wgmma: acc, a: ab.a, b: ab.b}

Use instead
    - domain_loop: k_tiles
      body:
        - {wgmma: acc, a: ab.a, b: ab.b, accumulate: iter > 0}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Rule, Severity
from tsc.program.model import Program
from tsc.program.paths import Walker
from tsc.program.tree import Step
from tsc.rules.routing.registers import Accesses, accesses
from tsc.rules.structure.judged import judged

RULE = Rule(
    "TSC157", "register-read-before-write", Severity.ERROR, "registers are read before they are written"
)


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each read of registers that some path to it has not written."""
    for task in judged(program):
        for entry in accesses(program, task):
            if not entry.certain():
                yield from _walk(program, entry)


def _walk(program: Program, entry: Accesses) -> Iterator[Finding]:
    before: dict[int, set[bool]] = {}

    def transfer(step: Step, written: bool) -> bool:
        before.setdefault(step.index, set()).add(written)
        return written or step.index in entry.writes

    steps = entry.reads.keys() | entry.writes
    walker = Walker(program, entry.task, transfer, lambda step: step.index in steps)
    walker.run(False)
    for index, (place, who) in entry.reads.items() if walker.complete else ():
        states = before.get(index, set())
        if False in states:
            paths = "not every path" if True in states else "no path"
            first = "let `accumulate` be false in the first round, or " if who == "`wgmma`" else ""
            yield Finding(
                RULE.name,
                f"{who} reads `{entry.name}` here, and {paths} to it has written `{entry.name}`",
                place,
                help=f"{first}put `zero: {entry.name}` or another write before it, on every path",
            )
