"""Loops round one ring whose bounds cannot be compared, told where the proof finds that they differ."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from tsc.diagnostics.model import Finding, Place
from tsc.expr import Expr, ExprError, parse, provably
from tsc.program.model import Program
from tsc.program.tree import TileLoop
from tsc.prove.verdict import Alarm
from tsc.rules.proof.faults import faults
from tsc.rules.proof.fills import Fills, pairs
from tsc.rules.proof.guards import CAUSED, rings
from tsc.rules.proof.teller import Teller
from tsc.source.route import Route


def unequal(teller: Teller, alarm: Alarm) -> tuple[str, Fills, Fills] | None:
    """Return a ring at which an alarm shows, and two tasks that may not go round it equally often."""
    if alarm.kind not in CAUSED:
        return None
    program = teller.program
    for key in rings(teller, alarm):
        for one, other in pairs(program, key, program.pipelines[key]):
            if one.task.name != other.task.name and not same(program, one, other):
                return key[0], one, other
    return None


def same(program: Program, one: Fills, other: Fills) -> bool:
    """Whether two counts are known to be equal."""
    return equal(program, one.count, other.count)


def equal(program: Program, one: Expr, other: Expr) -> bool:
    """Whether two expressions are known to have one value."""
    if one.text == other.text:
        return True
    facts = [program.flat(expr) for expr in program.spec.assert_]
    multiples = {name: dim.multiple_of for name, dim in program.dims.items()}
    with suppress(ExprError):
        alike = parse(f"({one.text}) == ({other.text})")
        return provably(alike, program.ranges, facts, multiples) is True
    return False


def told(rule: str, program: Program) -> Iterator[Finding]:
    """Yield a finding for each ring, with both counts as they are written."""
    found: dict[str, tuple[Fills, Fills]] = {}
    stuck: dict[str, dict[Route, str]] = {}
    for teller, alarm in faults(program, rule):
        cause = unequal(teller, alarm)
        if cause is not None:
            ring, *both = cause
            found.setdefault(ring, (both[0], both[1]))
            waiting = {it.where.route: teller.name(it.where.agent) for it in alarm.blocked}
            stuck.setdefault(ring, {}).update(waiting)
    for ring, (one, other) in found.items():
        a_tile = " a tile" if any(isinstance(node, TileLoop) for node in one.task.tree) else ""
        yield Finding(
            rule,
            f"`{one.task.name}` fills `{ring}` `{_count(one)}` times{a_tile}, and `{other.task.name}` takes "
            f"it `{_count(other)}` times",
            Place(other.place, label=f"`{other.task.name}`: {_count(other)} times"),
            (
                Place(one.place, label=f"`{one.task.name}`: {_count(one)} times"),
                *(Place(route, label=f"{who} waits here for ever") for route, who in stuck[ring].items()),
            ),
            help="let both go round equally often; where that cannot be seen here, give both the same `key`",
        )


def _count(fills: Fills) -> str:
    """Return a count without the `max` that says that a loop may have no round."""
    text, least = fills.count.text, "max(0, "
    inner = text.removeprefix(least).removesuffix(")")
    with suppress(ExprError):
        parse(inner)
        return inner if text == f"{least}{inner})" else text
    return text
