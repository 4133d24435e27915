"""Names in `tune.where` what no point of the space has.

What it does
    Looks every name of `tune.where` up among the constants and what `tune.try` sets to numbers.

Why is this bad
    A condition that has no value throws no point out: it counts as met.

Example
    constants: {BM: 128, BN: 128}
    tune:
      try: {BN: [64, 128]}
      where: [BM * BM_ <= 16384]

Use instead
    constants: {BM: 128, BN: 128}
    tune:
      try: {BN: [64, 128]}
      where: [BM * BN <= 16384]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import did_you_mean, show
from tsc.expr.hints import listing
from tsc.program.model import Program

RULE = Rule("TSC198", "unknown-name-in-where", Severity.ERROR, "`tune.where` names what no point has")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each name that a condition cannot have, at its first use there."""
    tune = program.spec.tune
    if tune is None:
        return
    known = list(dict.fromkeys((*program.constants, *tune.try_)))
    numbers = {key for key, values in tune.try_.items() if all(isinstance(it, int) for it in values)}
    for index, condition in enumerate(tune.where):
        for name in {name.text: name for name in reversed(condition.names)}.values():
            place = Place(("tune", "where", index), within=(name.start, name.end))
            if name.text not in known:
                message = f"`{name.text}` is no constant, and `tune.try` does not set it"
                yield Finding(RULE.name, message, place, help=_help(program, name.text, known))
            elif name.text not in numbers and name.text not in program.constants:
                message = f"`tune.try` sets `{name.text}` to what is no number"
                yield Finding(RULE.name, message, place, help="leave it out of the condition")


def _help(program: Program, name: str, known: list[str]) -> str:
    if name in program.dims:
        return "leave it out: a size is known when the kernel runs, and a point is chosen when it is built"
    if name in program.spec.let:
        return f"write `{show(program.spec.let[name])}` in its place"
    return did_you_mean(name, known) or f"a condition may name {listing(known)}"
