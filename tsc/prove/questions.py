"""Where an agent asks which question, and which questions it may still ask.

A question is asked for a number or a fact at coordinates: for each loop around, as far as the answer depends
on them, the number that bounds the loop, the stream of answers that the agent goes by, and the loop's value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tsc.prove.machine import All, Ask, Exceeds, Fact, Number, Test
from tsc.prove.ops import IfOp, Op, TestOp

Line = tuple[int, int]
"""What bounds a loop: number and scale. Values of loops with other scales are not counted alike."""

Point = tuple[Line | None, int, int]
"""One coordinate: line of the loop (`None`: a constant bounds it), stream, value."""

Points = tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Site:
    """A place in an agent's code that asks: `loops` are those around it, `depth` the coordinates it asks at.

    `constant` is what a number is compared with where that is no loop's value. `other` is the test that
    compares it with the value of a loop that it does not bound, or bounds with another scale.
    """

    at: int
    loops: tuple[int, ...]
    index: int
    number: bool
    depth: int
    constant: int | None = None
    other: Exceeds | None = None


def depth_of(numbers: tuple[Number, ...], ops: list[Op], loops: tuple[int, ...], number: int) -> int:
    """Return the coordinates at which a number is compared with a constant.

    If it bounds a loop around, they are those of that loop: there is one answer for both.
    """
    for level, test in enumerate(loops):
        op = ops[test] if test >= 0 else None
        if isinstance(op, TestOp) and op.bound.number == number:
            return level
    return min(len(loops), max(1, numbers[number].depth))


def sites_of(
    ops: list[Op], loops: list[tuple[int, ...]], numbers: tuple[Number, ...], facts: tuple[Fact, ...]
) -> Iterator[Site]:
    """Yield all sites of an agent's code."""
    for at, op in enumerate(ops):
        if isinstance(op, TestOp) and op.bound.number is not None:
            yield Site(at, loops[at], op.bound.number, True, op.level)
        elif isinstance(op, IfOp):
            for test in _leaves(op.test):
                if isinstance(test, Ask):
                    depth = min(facts[test.fact].depth, len(loops[at]))
                    yield Site(at, loops[at], test.fact, False, depth)
                elif isinstance(test, Exceeds) and test.bound.number is not None:
                    number, bound = test.bound.number, test.bound
                    if test.up is not None:
                        level = max(op.level, 0) - test.up
                        loop = ops[loops[at][level]] if loops[at][level] >= 0 else None
                        own = isinstance(loop, TestOp) and (loop.bound.number, loop.bound.scale) == (
                            number,
                            bound.scale,
                        )
                        yield Site(at, loops[at], number, True, level, other=None if own else test)
                    else:
                        constant = (test.beyond - bound.offset) // bound.scale
                        depth = depth_of(numbers, ops, loops[at], number)
                        yield Site(at, loops[at], number, True, depth, constant)


def _leaves(test: Test) -> Iterator[Test]:
    if isinstance(test, All):
        for inner in test.tests:
            yield from _leaves(inner)
    else:
        yield test


def may_ask(site: Site, ahead: int, loops: tuple[int, ...], now: Points, points: Points) -> bool:
    """Return whether an agent with the coordinates `now` may still ask at a site for `points`.

    `ahead` are the ops, as bits, that come in this round of the `loops` around. Loops that are common to both
    places go on where they are or advance; others are entered anew.
    """
    common = 0
    for mine, its in zip(loops, site.loops, strict=False):
        if mine != its:
            break
        common += 1
    depth = len(points)
    if ahead >> site.at & 1 and _same(now, points, min(common, depth)):
        return True
    for level in range(common):
        if loops[level] < 0 or not _same(now, points, min(level, depth)):
            continue
        if depth <= level:
            return True
        here, there = now[level], points[level]
        if here[:2] == there[:2] and there[2] > here[2]:
            return True
    return False


def _same(now: Points, points: Points, length: int) -> bool:
    return now[:length] == points[:length]
