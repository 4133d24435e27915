"""Loops' values compared with what does not bound the loop: what decides must not be forgotten."""

from __future__ import annotations

from tests.prove.draft import Draft
from tsc.prove import machine as m
from tsc.prove.proof import prove


def copy_under(fill: m.Test | None, drain: m.Test | None, numbers: tuple[m.Number, ...]) -> m.System:
    """A signal of two stages that one task gives and another takes, each in its rounds."""
    draft = Draft()
    ring = draft.ring(2)
    loader, user = draft.agent(), draft.agent()
    c, d, e, f = (
        loader.cursor(ring.index),
        loader.cursor(ring.index),
        user.cursor(ring.index),
        user.cursor(ring.index),
    )
    give = (loader.wait(ring.empty, c, 1), loader.arrive(ring.full, d))
    take = (user.wait(ring.full, e), user.arrive(ring.empty, f))
    bound = m.Bound(0)
    loader.body = [m.Loop((), bound, give if fill is None else (m.If((), fill, give),))]
    user.body = [m.Loop((), bound, take if drain is None else (m.If((), drain, take),))]
    system = draft.system()
    return m.System(system.rings, system.barriers, numbers, (), system.agents, system.segments, system.takers)


K = m.Number("k", 0, 0)
N = m.Number("n", 0, 0)


def test_a_constant_is_compared_in_late_rounds_too() -> None:
    early = m.Exceeds(m.Bound(None, 1, 3))
    assert prove(copy_under(early, early, (K,))).outcome == "proved"
    assert prove(copy_under(None, m.Exceeds(m.Bound(None, 1, 3), value=False), (K,))).outcome == "refuted"
    assert prove(copy_under(early, None, (K,))).outcome == "refuted"


def test_a_number_of_another_loop_is_not_forgotten() -> None:
    early = m.Exceeds(m.Bound(1))
    assert prove(copy_under(early, None, (K, N))).outcome == "refuted"
    assert prove(copy_under(early, m.Exceeds(m.Bound(1, 1, 1)), (K, N))).outcome == "refuted"
    assert prove(copy_under(early, early, (K, N))).outcome != "refuted"


def test_the_same_number_with_another_scale_is_not_forgotten() -> None:
    half = m.Exceeds(m.Bound(0, 2, -7))
    assert prove(copy_under(half, None, (K,))).outcome == "refuted"
    assert prove(copy_under(half, half, (K,))).outcome != "refuted"
