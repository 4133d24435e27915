"""Gives one `key` to loops or conditions that do not agree.

What it does
    Compares the numbers of rounds, and the conditions, that have one `key`, where they are made of sizes,
    scalar params and coordinates of the tile alone: it looks for inputs at which they differ. Forms of
    different names may: that these are the same is then what is promised.

Why is this bad
    The proof takes what has one `key` for one value. Where it is not, one task waits for another for ever, or
    takes a stage that nobody has filled, in a schedule that is called proved.

Example
    load:  [{domain_loop: cdiv(k, 64), key: n, body: [acquire: ab, {tma_load: a, to: ab}, commit: ab]}]
    mma:   [{domain_loop: k // 64, key: n, body: [wait: ab, {do: multiply}, release: ab]}]

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
from tsc.rules.proof.bounds import equal
from tsc.rules.proof.fills import differing, shown, tried
from tsc.rules.proof.keyed import Form, forms

RULE = Rule("TSC346", "forms-of-key-differ", Severity.ERROR, "what has one `key` is not one value")
SOUND = True


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each form that differs from the first one of its key."""
    for key, (first, *others) in forms(program).items():
        seen = set()
        for other in others:
            if (other.place, other.value) in seen or equal(program, first.value, other.value):
                continue
            if first.value.free != other.value.free and _may_agree(program, first, other):
                continue  # that those sizes are the same is what the key promises
            seen.add((other.place, other.value))
            for values in differing(program, first.value, other.value)[:1]:
                yield _finding(key[1], first, other, values)


def _may_agree(program: Program, first: Form, other: Form) -> bool:
    return any(one == two for _, (one, two) in tried(program, first.value, other.value))


def _finding(key: str, first: Form, other: Form, values: dict[str, int]) -> Finding:
    given = f" with {shown(values)}" if values else ""
    one, two = _value(first, values), _value(other, values)
    says = "" if first.value.is_condition else "is "
    return Finding(
        RULE.name,
        f"what has `key: {key}` {says}{two} in `{other.task.name}`{given}, and {says}{one} in "
        f"`{first.task.name}`",
        Place(other.place, label=f"{two} here{given.replace('`', '')}"),
        (Place(first.place, label=f"{one} here"),),
        help="write the same in both; one `key` promises that the values are the same",
    )


def _value(form: Form, values: dict[str, int]) -> str:
    with suppress(EvalError):
        value = evaluate(form.value, values)
        if form.value.is_condition:
            return "holds" if value else "does not hold"
        return "1 round" if value == 1 else f"{int(value):,} rounds"
    return f"`{form.value.text}`"
