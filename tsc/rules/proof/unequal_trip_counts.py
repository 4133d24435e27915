"""Fills a ring a different number of times than another task takes from it.

What it does
    Counts, as an expression, how often each task that shares a ring takes part in it in one tile: the rounds
    of the loops around its `acquire` or `wait`. Counts that are equal for all inputs pass, as do loops with
    the same `key`, which `forms-of-key-differ` compares. For others it looks for inputs at which they differ.

Why is this bad
    The task with more rounds waits for ever for a fill or a release that nobody owes it.

Example
    load:  [{domain_loop: cdiv(k, 64), body: [acquire: ab, {tma_load: a, to: ab}, commit: ab]}]
    mma:   [{domain_loop: k // 64, body: [wait: ab, {do: multiply}, release: ab]}]

Use instead
    load:  [{domain_loop: cdiv(k, 64), body: [acquire: ab, {tma_load: a, to: ab}, commit: ab]}]
    mma:   [{domain_loop: cdiv(k, 64), body: [wait: ab, {do: multiply}, release: ab]}]
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import EvalError, evaluate
from tsc.program.model import Program
from tsc.program.tree import TileLoop
from tsc.rules.proof.fills import Fills, differing, pairs, shown, turns

RULE = Rule(
    "TSC316", "unequal-trip-counts", Severity.ERROR, "two tasks go round a ring a different number of times"
)
SOUND = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each ring of which two tasks make and take different numbers of fills."""
    seen = set()
    for key, pipeline in program.pipelines.items():
        for one, other in pairs(program, key, pipeline):
            if (one.place, other.place) in seen:
                continue
            seen.add((one.place, other.place))
            yield from _compare(program, key[0], one, other)


def check_proof(program: Program) -> Iterator[Finding]:
    """Yield a finding for each ring at which the proof found what counts without example lead to."""
    from tsc.rules.proof.bounds import told

    yield from told(RULE.name, program)


def _compare(program: Program, ring: str, one: Fills, other: Fills) -> Iterator[Finding]:
    if one.task.name == other.task.name:
        return
    from tsc.rules.proof.bounds import same

    if same(program, one, other):
        return
    examples = differing(program, one.count, other.count)
    if not examples:
        return  # the proof decides
    first = examples[0]
    counts = [_rounds(fills, first) for fills in (one, other)]
    given = f" with {shown(first)}" if first else ""
    a_tile = " a tile" if any(isinstance(node, TileLoop) for node in one.task.tree) else ""
    yield Finding(
        RULE.name,
        f"`{one.task.name}` fills `{ring}` {counts[0]}{a_tile}{given}, and `{other.task.name}` takes it "
        f"{counts[1]}",
        Place(other.place, label=_label(other, examples)),
        (Place(one.place, label=_label(one, examples)),),
        help="let both go round equally often" + turns(program, ring, one, other),
    )


def _rounds(fills: Fills, values: dict[str, int]) -> str:
    with suppress(EvalError):
        count = int(evaluate(fills.count, values))
        return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count:,} times")
    return f"`{fills.count.text}` times"


def _label(fills: Fills, examples: list[dict[str, int]]) -> str:
    said = [
        _rounds(fills, values) + (f" with {shown(values).replace('`', '')}" if values else "")
        for values in examples
    ]
    return f"`{fills.task.name}`: {', '.join(said)}"
