"""Computes with a value that is no integer in an expression.

What it does
    Looks for `f32` params, `f32` tokens and registers of several values in expressions. An `f32` value by
    itself may be handed to an `f32` argument of a work.

Why is this bad
    Expressions are integer arithmetic: there is no fraction to keep, and several values are not one.

Example
    total: {returns: {sum: f32}, cuda: "sum = 0.f;"}
    - {do: total, out: [sum]}
    - when: sum > 0
      then: [{do: scale}]

Use instead
    total: {returns: {positive: bool}, cuda: "positive = false;"}
    - {do: total, out: [positive]}
    - when: positive
      then: [{do: scale}]
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr.tree import Ref
from tsc.program.model import Program
from tsc.rules.structure.spots import spots
from tsc.source.route import Route
from tsc.spec.schedule import Do

RULE = Rule(
    "TSC156", "non-integer-value", Severity.ERROR, "an expression mentions a value that is no integer"
)

_INTEGERS = {"i8", "u8", "i32", "u32", "i64", "bool"}


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each mention of a float or of several values."""
    tokens, passed = _types(program)
    for site in program.sites:
        if site.route in passed and isinstance(site.expr.tree, Ref):
            continue
        for name in site.expr.names:
            scalar, registers = program.scalars.get(name.text), program.registers.get(name.text)
            dtype = scalar.dtype if scalar is not None else tokens.get((site.task or "", name.text), "i32")
            if dtype not in _INTEGERS:
                why, hint = f"is {dtype}", "let a work compare it and return a `bool` or an integer"
            elif registers is not None and registers.per_thread not in (None, 1):
                why, hint = (
                    f"holds {registers.per_thread} values a thread",
                    "use registers of `per_thread: 1`",
                )
            else:
                continue
            yield Finding(
                RULE.name,
                f"`{name.text}` {why}, and expressions compute with single integers",
                Place(site.route, within=(name.start, name.end)),
                help=hint,
            )


def _types(program: Program) -> tuple[dict[tuple[str, str], str], set[Route]]:
    """Return the types of tokens by task and name, and the places of values for `f32` arguments."""
    tokens: dict[tuple[str, str], str] = {}
    passed: set[Route] = set()
    for spot in spots(program):
        work = program.works.get(spot.node.do) if isinstance(spot.node, Do) else None
        if work is not None:
            for name, (_, dtype) in zip(spot.node.out, work.returns, strict=False):
                tokens.setdefault((spot.task, name), dtype)
            passed |= {(*spot.route, "with", name) for name, kind in work.args if kind == "f32"}
    return tokens, passed
