"""What the questions hand out beside the machine's own classes, and tests put together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tsc.program.tree import Loop, TileLoop
from tsc.prove.machine import All, Ask, Bound, Exceeds, InRounds, Test
from tsc.source.route import Route

LoopNode = Loop | TileLoop

TRUE: Test = All(())
FALSE: Test = All((), value=False)


@dataclass(frozen=True, slots=True)
class Around:
    """A loop that stands around, as the machine runs it: v = start, start + step, ... while `bound > v`."""

    node: LoopNode
    start: int
    step: int
    bound: Bound


@dataclass(frozen=True, slots=True)
class Promise:
    """Something that the author vouches for and an answer rests on, with the place where it is written."""

    text: str
    route: Route


def opposite(test: Test) -> Test:
    """Return the test that holds where this one does not."""
    match test:
        case InRounds(head=head, cycle=cycle, up=up):
            return InRounds(tuple(not one for one in head), tuple(not one for one in cycle), up)
        case Ask() | Exceeds() | All():
            return replace(test, value=not test.value)


def both(tests: Iterable[Test]) -> Test:
    """Return the test that all of these hold, constants left out."""
    kept: list[Test] = []
    for test in tests:
        if test == FALSE:
            return FALSE
        inner = test.tests if isinstance(test, All) and test.value else (test,)
        kept += [one for one in inner if one not in kept]
    return kept[0] if len(kept) == 1 else All(tuple(kept))


def either(tests: Iterable[Test]) -> Test:
    """Return the test that one of these holds."""
    return opposite(both(opposite(test) for test in tests))


def in_rounds(head: Iterable[bool], cycle: Iterable[bool], up: int) -> Test:
    """Return the shortest test of these rounds; a constant if they are all alike."""
    first, then = list(head), list(cycle)
    for size in range(1, len(then)):
        if len(then) % size == 0 and then == then[:size] * (len(then) // size):
            then = then[:size]
            break
    while first and first[-1] == then[-1]:
        first.pop()
        then = [then[-1], *then[:-1]]
    if not first and len(then) == 1:
        return TRUE if then[0] else FALSE
    return InRounds(tuple(first), tuple(then), up)
