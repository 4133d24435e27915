"""The explorer on schedules whose verdict is known: each pitfall of the theory is one of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.prove.draft import Draft, read, write
from tests.prove.explorer import explore
from tests.prove.oracles import Fixed
from tsc.prove import machine as m

Made = tuple[Draft, set[str]]


def copy(stages: int = 2, trips: int = 3) -> Made:
    draft = Draft()
    ring = draft.ring(stages)
    fill, take = draft.agent("fill"), draft.agent("take")
    c = fill.cursor(ring.index)
    steps = [fill.wait(ring.empty, c, 1, moves=False), fill.load(m.Target(ring.full, write(ring.cells, c)))]
    fill.body.append(fill.loop(trips, *steps, fill.arrive(ring.full, c)))
    c = take.cursor(ring.index)
    steps = [take.wait(ring.full, c, moves=False), take.touch(read(ring.cells, c, fresh=True))]
    take.body.append(take.loop(trips, *steps, take.arrive(ring.empty, c)))
    draft.takers.append(m.Taker(1, c, ring.full))
    return draft, set()


def copy_that_takes_less() -> Made:
    draft, _ = copy()
    take = draft.agents[1]
    loop = take.body[0]
    assert isinstance(loop, m.Loop)
    take.body[0] = take.loop(2, *loop.body)
    return draft, {"leftover"}


def copy_that_takes_more() -> Made:
    draft, _ = copy()
    take = draft.agents[1]
    loop = take.body[0]
    assert isinstance(loop, m.Loop)
    take.body[0] = take.loop(4, *loop.body)
    return draft, {"deadlock"}


def known_without_a_wait() -> Made:
    """Who arrives for round 0 and hears of the other arrival by another ring knows that round 0 is over."""
    draft = Draft()
    x, y = draft.ring(1, full=2), draft.ring(1)
    one, other = draft.agent(), draft.agent()
    mine, seen = one.cursor(x.index), one.cursor(y.index)
    one.body = [one.arrive(x.full, mine), one.wait(y.full, seen), one.arrive(x.full, mine)]
    theirs, told = other.cursor(x.index), other.cursor(y.index)
    other.body = [other.arrive(x.full, theirs), other.arrive(y.full, told), other.arrive(x.full, theirs)]
    # The other one does not know of the first arrival before its second one.
    return draft, {"arrive"}


def known_without_a_wait_by_both() -> Made:
    draft, _ = known_without_a_wait()
    other = draft.agents[1]
    z = draft.ring(1)
    other.body.insert(2, other.wait(z.full, other.cursor(z.index)))
    one = draft.agents[0]
    one.body.insert(2, one.arrive(z.full, one.cursor(z.index)))
    return draft, set()


def multicast(knows_both: bool) -> Made:
    """Bytes of the two targets land at different times."""
    draft = Draft()
    rings = [draft.ring(1), draft.ring(1)]
    lead = draft.agent()
    cursors = [lead.cursor(ring.index) for ring in rings]
    fulls = (rings[0].full, rings[1].full)
    targets = [m.Target(r.full, write(r.cells, cursors[0])) for r in rings]
    looks = [lead.cursor(ring.index) for ring in rings]
    lead.body = [lead.load(*targets), lead.arrive(fulls, cursors[0]), lead.wait(rings[0].full, looks[0])]
    if knows_both:
        lead.body.append(lead.wait(rings[1].full, looks[1]))
    lead.body.append(lead.arrive(rings[1].full, cursors[0]))
    return draft, set() if knows_both else {"arrive"}


def lanes(loads: bool) -> Made:
    """Three stages and two lanes that take turns: what a lane has seen says nothing of the other's load."""
    draft = Draft()
    ring = draft.ring(3)
    producers = [draft.agent("p0"), draft.agent("p1")]
    for lane, agent in enumerate(producers):
        c = agent.cursor(ring.index, lane, 2)
        item = write(ring.cells, c)
        work = agent.load(m.Target(ring.full, item)) if loads else agent.touch(item)
        body = [agent.wait(ring.empty, c, 1, moves=False), work, agent.arrive(ring.full, c)]
        agent.body.append(agent.loop(4, *body, start=lane, step=2))
    for lane in range(2):
        agent = draft.agent(f"c{lane}")
        c = agent.cursor(ring.index, lane, 2)
        body = [agent.wait(ring.full, c, moves=False), agent.touch(read(ring.cells, c))]
        agent.body.append(agent.loop(4, *body, agent.arrive(ring.empty, c), start=lane, step=2))
    return draft, {"early"}


def one_after_another() -> Made:
    """Lanes that hand over to each other know of each other's plain fills."""
    draft = Draft()
    ring = draft.ring(3)
    fill = draft.agent("fill")
    c = fill.cursor(ring.index)
    body = [fill.wait(ring.empty, c, 1, moves=False), fill.touch(write(ring.cells, c))]
    fill.body.append(fill.loop(4, *body, fill.arrive(ring.full, c)))
    for lane in range(2):
        agent = draft.agent(f"c{lane}")
        c = agent.cursor(ring.index, lane, 2)
        body = [agent.wait(ring.full, c, moves=False), agent.touch(read(ring.cells, c))]
        agent.body.append(agent.loop(4, *body, agent.arrive(ring.empty, c), start=lane, step=2))
    return draft, set()


def one_after_another_by_load() -> Made:
    draft, _ = one_after_another()
    fill = draft.agents[0]
    ring = m.Target(0, write(((0,), (1,), (2,)), 0))
    loop = fill.body[0]
    assert isinstance(loop, m.Loop)
    fill.body[0] = fill.loop(4, loop.body[0], fill.load(ring), loop.body[2])
    return draft, {"early"}


def release_before_the_first_wait() -> Made:
    """Phase -1 has a parity as well: the producer's first acquire is lapped."""
    draft, _ = copy()
    take = draft.agents[1]
    loop = take.body[0]
    assert isinstance(loop, m.Loop)
    ring = take.cursor(0)
    take.body.insert(0, take.arrive(1, ring))
    return draft, {"lap", "arrive"}


def blocked_wait_that_passes_early() -> Made:
    draft = Draft()
    ring = draft.ring(1)
    agent = draft.agent()
    look = agent.cursor(ring.index, 1)
    agent.body = [agent.wait(ring.full, look)]
    return draft, {"early"}


def sleeps_for_good() -> Made:
    """Phase 2 reads like phase 0, which nobody ends: it is a plain deadlock."""
    draft = Draft()
    ring = draft.ring(1)
    agent = draft.agent()
    look = agent.cursor(ring.index, 2)
    agent.body = [agent.wait(ring.full, look)]
    return draft, {"deadlock"}


def groups_without_commits() -> Made:
    """A drain counts groups, not the arrivals between them: one group kept, the older one is done."""
    draft = Draft()
    one, two = draft.segment(), draft.segment()
    ring = draft.ring(1)
    agent = draft.agent()
    engine, c = agent.engine("e"), agent.cursor(ring.index)
    agent.body = [
        agent.touch(read(one), engine=engine),
        agent.arrive(ring.full, c, engine=engine),
        agent.touch(read(two), engine=engine),
        agent.drain(engine, 1),
        agent.touch(write(one)),
    ]
    return draft, set()


def scratch_over_the_operand(drained: bool) -> Made:
    """An agent and its own engine are not the same."""
    draft = Draft()
    bytes_ = draft.segment(written=True)
    agent = draft.agent()
    engine = agent.engine("e")
    agent.body = [agent.touch(read(bytes_), engine=engine), agent.touch(write(bytes_))]
    if drained:
        agent.body.insert(1, agent.drain(engine))
    return draft, set() if drained else {"race"}


def two_loads_at_once() -> Made:
    """Two loads of one agent into the same bytes, the first in flight."""
    draft = Draft()
    ring = draft.ring(1)
    agent = draft.agent()
    c = agent.cursor(ring.index)
    load = agent.load(m.Target(ring.full, write(ring.cells, c)))
    agent.body = [load, load, agent.arrive(ring.full, c)]
    return draft, {"race"}


def weights_beyond_the_count() -> Made:
    """Weight 1, then weight 2 of a count of 2, although another 1 would have fitted."""
    draft = Draft()
    ring = draft.ring(1, full=2)
    agent = draft.agent()
    c, look = agent.cursor(ring.index), agent.cursor(ring.index)
    agent.body = [
        agent.arrive(ring.full, c, weight=1),
        agent.arrive(ring.full, agent.cursor(ring.index), weight=2),
        agent.wait(ring.full, look),
    ]
    return draft, {"arrive"}


def load_behind_the_arrival() -> Made:
    """The phase may be over before the load that was meant for it."""
    draft = Draft()
    ring = draft.ring(1)
    one, other = draft.agent(), draft.agent()
    c = one.cursor(ring.index)
    one.body = [one.load(m.Target(ring.full, write(ring.cells, c)))]
    other.body = [other.arrive(ring.full, other.cursor(ring.index))]
    return draft, {"arrive"}


def load_that_another_announces() -> Made:
    draft, _ = load_behind_the_arrival()
    one = draft.agents[0]
    load = one.body[0]
    assert isinstance(load, m.Load)
    one.body[0] = one.load(m.Target(0, load.targets[0].item, weight=1))
    draft.barriers[0] = m.Barrier("full", 0, 2)
    return draft, set()


def commit_behind_the_group(by_engine: bool) -> Made:
    """The arrival of the engine comes after what it reads; that of the agent comes at once."""
    draft = Draft()
    ring = draft.ring(1, full=1)
    bytes_ = draft.segment(written=True)
    mma, then = draft.agent(), draft.agent()
    engine, c = mma.engine("e"), mma.cursor(ring.index)
    mma.body = [
        mma.touch(read(bytes_), engine=engine),
        mma.arrive(ring.full, c, engine=engine if by_engine else None),
    ]
    then.body = [then.wait(ring.full, then.cursor(ring.index)), then.touch(write(bytes_))]
    return draft, set() if by_engine else {"race"}


def reads_nothing(written: bool) -> Made:
    draft = Draft()
    bytes_ = draft.segment(written=written)
    agent = draft.agent()
    agent.body = [agent.touch(read(bytes_, fresh=True)), agent.touch(write(bytes_))]
    return draft, set() if written else {"unwritten"}


def named_barrier(syncs: int) -> Made:
    """What is written before the second sync of a round may be read after it; one sync is too few."""
    draft = Draft()
    barrier = draft.named(2)
    board = draft.segment()
    for index in range(2):
        agent = draft.agent()
        ring = draft.barriers[barrier].ring
        arrived, looked = agent.cursor(ring), agent.cursor(ring)
        sync = [agent.arrive(barrier, arrived), agent.wait(barrier, looked)]
        touch = agent.touch(write(board) if index == 0 else read(board, fresh=True))
        body = [touch, *sync, *sync] if index == 0 else [*sync, touch, *sync]
        agent.body.append(agent.loop(3, *body[: 2 * syncs + 1]))
    return draft, set() if syncs == 2 else {"race"}


CASES: dict[str, Callable[[], Made]] = {
    "copy": copy,
    "copy with one stage": lambda: copy(1),
    "copy of nothing": lambda: copy(2, 0),
    "takes less": copy_that_takes_less,
    "takes more": copy_that_takes_more,
    "known to one": known_without_a_wait,
    "known to both": known_without_a_wait_by_both,
    "multicast, one phase known": lambda: multicast(False),
    "multicast, both known": lambda: multicast(True),
    "lanes fill by load": lambda: lanes(True),
    "lanes take plain fills": one_after_another,
    "lanes take loads": one_after_another_by_load,
    "release before the first wait": release_before_the_first_wait,
    "blocked, and passes early": blocked_wait_that_passes_early,
    "sleeps for good": sleeps_for_good,
    "groups, not commits": groups_without_commits,
    "scratch over the operand": lambda: scratch_over_the_operand(False),
    "scratch, drained": lambda: scratch_over_the_operand(True),
    "two loads at once": two_loads_at_once,
    "weights beyond the count": weights_beyond_the_count,
    "load behind the arrival": load_behind_the_arrival,
    "load that another announces": load_that_another_announces,
    "commit by the engine": lambda: commit_behind_the_group(True),
    "commit by the agent": lambda: commit_behind_the_group(False),
    "reads nothing": lambda: reads_nothing(False),
    "reads what was there": lambda: reads_nothing(True),
    "named, synced twice": lambda: named_barrier(2),
    "named, synced once": lambda: named_barrier(1),
}


@pytest.mark.parametrize("name", CASES)
def test_what_the_hardware_may_do(name: str) -> None:
    draft, expected = CASES[name]()
    system = draft.system()
    outcome = explore(system, Fixed(system, 0))
    assert not outcome.too_big
    # A bit that misleads may lead anywhere; what it leads to is no part of the expectation.
    assert outcome.kinds & (expected or outcome.kinds) == expected
    assert outcome.window == bool(expected & {"lap", "early", "arrive"})
    if not outcome.window:
        assert outcome.kinds == expected


def test_a_cap_of_states_says_so() -> None:
    system = copy(3, 4)[0].system()
    assert explore(system, Fixed(system, 0), cap=20).too_big
