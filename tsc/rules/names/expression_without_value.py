"""Writes an expression that has no value.

What it does
    Computes every part of an expression that is known when the kernel is built, and reports a division by
    zero, an overflow of 64 bits, and an expression that grows too large once its lets are put in.

Why is this bad
    There is nothing to build with, or the kernel would divide by zero.

Example
    constants: {BN: 128, EN: 0}
    let: {parts: BN // EN}

Use instead
    constants: {BN: 128, EN: 32}
    let: {parts: BN // EN}
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import Expr, build
from tsc.expr.tree import children, walk
from tsc.program.model import Program
from tsc.program.values import let_order
from tsc.rules.names.hopeless import hopeless
from tsc.source.route import Route

RULE = Rule("TSC106", "expression-without-value", Severity.ERROR, "an expression has no value")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each expression that fails, lets included, and one for each constant that is 0."""
    alike: dict[object, list[Finding]] = {}
    for finding in _faults(program):
        alike.setdefault(finding.place.label or finding.place, []).append(finding)
    for first, *others in alike.values():
        yield replace(first, related=tuple(replace(it.place, label="and here") for it in others[:3]))


def _faults(program: Program) -> Iterator[Finding]:
    broken, reported = set[str](), set[Route]()
    for name in let_order(program.spec.let):
        expr, route = program.spec.let[name], ("let", name)
        if any(used.text in broken for used in expr.names):
            broken.add(name)
        elif found := _fault(program, expr, route):
            broken.add(name)
            yield found
    for site in program.sites:
        mentions = any(used.text in broken for used in site.expr.names)
        if site.route[0] == "let" or site.route in reported:
            continue
        reported.add(site.route)
        if not mentions and (found := _fault(program, site.expr, site.route)):
            yield found
        else:
            # Under the values of `replica`, `part` or a repeat; one copy is enough.
            under = (it for it in program.failures if it.route == site.route and not mentions)
            yield from (_finding(it.route, it.message, it.within) for it in islice(under, 1))


def _fault(program: Program, expr: Expr, route: Route) -> Finding | None:
    if not (tuple(children(expr.tree)) or {name.text for name in expr.names} & program.lets.keys()):
        return None  # a name or a number
    if error := program.values.too_large(expr):
        return Finding(
            RULE.name, error.message, Place(route, within=(error.start, error.end)), help=error.help
        )
    why = next(filter(None, map(hopeless, walk(program.flat(expr).tree))), "")
    if not why:
        return None
    for node in reversed(list(walk(expr.tree))):
        if hopeless(program.flat(build(node)).tree):
            names = [name.text for name in build(node).names if name.text in program.constants]
            zeros = [name for name in names if program.constants[name] == 0 and "by zero" in why]
            known = {name: program.constants[name] for name in zeros or names}
            given = ", ".join(f"{name} = {int(value):,}" for name, value in known.items())
            return _finding(route, why, (node.start, node.end), given)
    return _finding(route, why, None)


def _finding(route: Route, why: str, within: tuple[int, int] | None, given: str = "") -> Finding:
    return Finding(
        RULE.name,
        f"the expression has no value: {why}",
        Place(route, within=within, label=given),
        help="change the constants that it is made of",
    )
