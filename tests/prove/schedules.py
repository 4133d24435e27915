"""Schedules, each written for one part of the proof: without that part its verdict would be another one."""

from __future__ import annotations

from tests.prove.draft import Draft, read, write
from tsc.prove import machine as m


def passes_a_lapped_wait() -> m.System:
    """Phase 0 is over before the first wait, for phase -1, which nothing orders with it."""
    draft = Draft()
    ring = draft.ring(1)
    release, acquire = draft.agent(), draft.agent()
    release.body = [release.arrive(ring.empty, release.cursor(ring.index))]
    acquire.body = [acquire.wait(ring.empty, acquire.cursor(ring.index), 1)]
    return draft.system()


def laps_a_waiter() -> m.System:
    """Phase 1 is over although nobody knows that the wait for phase 0 has been."""
    draft = Draft()
    x, y = draft.ring(1), draft.ring(1)
    look, arrive, help_ = draft.agent(), draft.agent(), draft.agent()
    look.body = [look.wait(x.full, look.cursor(x.index))]
    c = arrive.cursor(x.index)
    helped = arrive.wait(y.full, arrive.cursor(y.index))
    arrive.body = [arrive.arrive(x.full, c), helped, arrive.arrive(x.full, c)]
    help_.body = [help_.arrive(y.full, help_.cursor(y.index))]
    return draft.system()


def waits_for_the_phase_after() -> m.System:
    """A wait for phase 1 by one who knows nothing of phase 0."""
    draft = Draft()
    ring = draft.ring(1)
    fill, look = draft.agent(), draft.agent()
    c = fill.cursor(ring.index)
    fill.body = [fill.arrive(ring.full, c), fill.arrive(ring.full, c)]
    look.body = [look.wait(ring.full, look.cursor(ring.index, 1))]
    return draft.system()


def arrives_for_the_phase_after() -> m.System:
    """Two arrivals by one agent, one by another: the second may come before the other's first."""
    draft = Draft()
    ring = draft.ring(1, full=2)
    other, one = draft.agent(), draft.agent()
    other.body = [other.arrive(ring.full, other.cursor(ring.index))]
    c = one.cursor(ring.index)
    one.body = [one.arrive(ring.full, c), one.arrive(ring.full, c)]
    return draft.system()


def arrives_with_too_much() -> m.System:
    draft = Draft()
    ring = draft.ring(1)
    agent = draft.agent()
    agent.body = [agent.arrive(ring.full, agent.cursor(ring.index), weight=2)]
    return draft.system()


def loads_behind_the_arrival() -> m.System:
    draft = Draft()
    ring = draft.ring(1)
    one, other = draft.agent(), draft.agent()
    c = one.cursor(ring.index)
    one.body = [one.load(m.Target(ring.full, write(ring.cells, c)))]
    other.body = [other.arrive(ring.full, other.cursor(ring.index))]
    return draft.system()


def knows_without_a_wait() -> m.System:
    """Who arrives, and hears of the other arrival elsewhere, knows that the phase is over."""
    draft = Draft()
    x, y, z = draft.ring(1, full=2), draft.ring(1), draft.ring(1)
    for mine, theirs in ((y, z), (z, y)):
        agent = draft.agent()
        c = agent.cursor(x.index)
        told = agent.arrive(mine.full, agent.cursor(mine.index))
        heard = agent.wait(theirs.full, agent.cursor(theirs.index))
        agent.body = [agent.arrive(x.full, c), told, heard, agent.arrive(x.full, c)]
    return draft.system()


def hears_of_an_access_or_not() -> m.System:
    """The middle one waits for the writer under a condition only, and then lets the reader go."""
    draft = Draft()
    p, q = draft.ring(1), draft.ring(1)
    waits, later = draft.fact(), draft.fact()
    bytes_ = draft.segment()
    writer, middle, reader = draft.agent(), draft.agent(), draft.agent()
    writer.body = [writer.touch(write(bytes_)), writer.arrive(p.full, writer.cursor(p.index))]
    middle.body = [
        middle.when(m.Ask(waits, False), middle.wait(p.full, middle.cursor(p.index))),
        middle.when(m.Ask(later)),
        middle.arrive(q.full, middle.cursor(q.index)),
    ]
    reader.body = [reader.wait(q.full, reader.cursor(q.index)), reader.touch(read(bytes_))]
    return draft.system()


def hears_of_an_arrival_or_not() -> m.System:
    """An arrival for phase 1 by one who has waited for phase 0 under a condition only."""
    draft = Draft()
    ring = draft.ring(1)
    waits, later = draft.fact(), draft.fact()
    first, second = draft.agent(), draft.agent()
    first.body = [first.arrive(ring.full, first.cursor(ring.index))]
    second.body = [
        second.when(m.Ask(waits, False), second.wait(ring.full, second.cursor(ring.index))),
        second.when(m.Ask(later)),
        second.arrive(ring.full, second.cursor(ring.index, 1)),
    ]
    return draft.system()


def hears_of_a_wait_or_not() -> m.System:
    """Phase 1 ends with or without knowing that somebody has waited for phase 0."""
    draft = Draft()
    x, y = draft.ring(1), draft.ring(1)
    waits, later = draft.fact(), draft.fact()
    look, arrive = draft.agent(), draft.agent()
    look.body = [look.wait(x.full, look.cursor(x.index)), look.arrive(y.full, look.cursor(y.index))]
    c = arrive.cursor(x.index)
    arrive.body = [
        arrive.arrive(x.full, c),
        arrive.when(m.Ask(waits, False), arrive.wait(y.full, arrive.cursor(y.index))),
        arrive.when(m.Ask(later)),
        arrive.arrive(x.full, c),
    ]
    return draft.system()


def asks_what_another_has_asked() -> m.System:
    """Both ask for one condition; the second one waits for ever if it holds."""
    draft = Draft()
    condition, between = draft.fact(), draft.fact()
    ring = draft.ring(1)
    bytes_ = draft.segment(written=True)
    first, second = draft.agent(), draft.agent()
    first.body = [first.touch(read(bytes_)), first.when(m.Ask(condition))]
    second.body = [
        second.touch(read(bytes_)),
        second.when(m.Ask(between)),
        second.when(m.Ask(condition), second.wait(ring.full, second.cursor(ring.index))),
    ]
    return draft.system()


def fails_in_the_third_round() -> m.System:
    draft = Draft()
    ring = draft.ring(1)
    trips = draft.number("k")
    agent = draft.agent()
    third = m.InRounds((False, False, True), (False,))
    agent.body = [agent.loop(trips, agent.when(third, agent.wait(ring.full, agent.cursor(ring.index))))]
    return draft.system()


def is_behind_by_some_rounds() -> m.System:
    """One agent goes through its loop at once, the other one only then, and fails in its third round."""
    draft = Draft()
    x, y = draft.ring(1), draft.ring(1)
    trips = draft.number("k")
    bytes_ = draft.segment(written=True)
    ahead, behind = draft.agent(), draft.agent()
    ahead.body = [
        ahead.loop(trips, ahead.touch(read(bytes_))),
        ahead.arrive(x.full, ahead.cursor(x.index)),
    ]
    third = m.InRounds((False, False, True), (False,))
    behind.body = [
        behind.loop(
            trips,
            behind.wait(x.full, behind.cursor(x.index), moves=False),
            behind.when(third, behind.wait(y.full, behind.cursor(y.index))),
        )
    ]
    return draft.system()


def writes_what_is_read_or_not() -> m.System:
    """A read that must find something, behind a write under a condition."""
    draft = Draft()
    writes, later = draft.fact(), draft.fact()
    bytes_ = draft.segment()
    agent = draft.agent()
    agent.body = [
        agent.when(m.Ask(writes, False), agent.touch(write(bytes_))),
        agent.when(m.Ask(later)),
        agent.touch(read(bytes_, fresh=True)),
    ]
    return draft.system()


def fills_anew_or_not() -> m.System:
    """A fill that brings nothing under a condition: what is read is of the fill before."""
    draft = Draft()
    ring = draft.ring(1)
    fills, later = draft.fact(), draft.fact()
    fill, take = draft.agent(), draft.agent()
    c = fill.cursor(ring.index)
    fill.body = [
        fill.wait(ring.empty, c, 1, moves=False, clears=ring.cells),
        fill.when(m.Ask(fills, False), fill.touch(write(ring.cells, c))),
        fill.when(m.Ask(later)),
        fill.arrive(ring.full, c),
    ]
    c = take.cursor(ring.index)
    take.body = [take.wait(ring.full, c, moves=False), take.touch(read(ring.cells, c, filled=True))]
    return draft.system()


def fences_or_not() -> m.System:
    """An engine that goes by the asynchronous proxy reads what was written by the ordinary one."""
    draft = Draft()
    fences, later = draft.fact(), draft.fact()
    bytes_ = draft.segment()
    agent = draft.agent()
    e = agent.engine("e", proxy=True)
    agent.body = [
        agent.touch(write(bytes_)),
        agent.when(m.Ask(fences, False), m.Fence(agent.route())),
        agent.when(m.Ask(later)),
        agent.touch(read(bytes_), engine=e),
    ]
    return draft.system()


def fences() -> m.System:
    draft = Draft()
    bytes_ = draft.segment()
    agent = draft.agent()
    e = agent.engine("e", proxy=True)
    agent.body = [agent.touch(write(bytes_)), m.Fence(agent.route()), agent.touch(read(bytes_), engine=e)]
    return draft.system()


def drains_all_but_two() -> m.System:
    """Of three groups the oldest is done."""
    draft = Draft()
    stages = [draft.segment(written=True) for _ in range(3)]
    agent = draft.agent()
    e = agent.engine("e")
    groups = [agent.touch(read(stage), engine=e) for stage in stages]
    agent.body = [*groups, agent.drain(e, 2), agent.touch(write(stages[0]))]
    return draft.system()


def drains_too_little() -> m.System:
    """Of two groups the younger one may be open."""
    draft = Draft()
    stages = [draft.segment(written=True) for _ in range(2)]
    agent = draft.agent()
    e = agent.engine("e")
    groups = [agent.touch(read(stage), engine=e) for stage in stages]
    agent.body = [*groups, agent.drain(e, 1), agent.touch(write(stages[1]))]
    return draft.system()


def goes_on_before_the_load_lands() -> m.System:
    draft = Draft()
    ring = draft.ring(1)
    agent = draft.agent()
    c = agent.cursor(ring.index)
    load = agent.load(m.Target(ring.full, write(ring.cells, c)))
    agent.body = [load, agent.touch(read(ring.cells, c)), agent.arrive(ring.full, c)]
    return draft.system()


def takes_nothing() -> m.System:
    """Who has to take the fills does not even wait for them."""
    draft = Draft()
    ring = draft.ring(1)
    fill, take = draft.agent(), draft.agent()
    fill.body = [fill.arrive(ring.full, fill.cursor(ring.index))]
    draft.takers.append(m.Taker(1, take.cursor(ring.index), ring.full))
    return draft.system()


def goes_by_one_number_in_all_tiles() -> m.System:
    """As many rounds in each tile as in the first: the fill of the first tile is for the second one."""
    draft = Draft()
    ring = draft.ring(1)
    trips = draft.number("k", hi=1)
    fill, take = draft.agent(), draft.agent()
    c, d = fill.cursor(ring.index), take.cursor(ring.index)
    filled = fill.loop(trips, fill.wait(ring.empty, c, 1, False), fill.arrive(ring.full, c))
    fill.body = [fill.loop(2, filled, tiles=True)]
    body = [take.wait(ring.full, d, moves=False), take.arrive(ring.empty, d)]
    take.body = [take.loop(trips, *body), take.loop(trips, *body)]
    return draft.system()


def keeps_the_younger_group() -> m.System:
    """Two groups in one order or the other; the younger one is still open behind the drain."""
    draft = Draft()
    order, later = draft.fact(), draft.fact()
    one, other = draft.segment(written=True), draft.segment(written=True)
    agent = draft.agent()
    e = agent.engine("e")
    groups = (agent.touch(read(one), engine=e), agent.touch(read(other), engine=e))
    agent.body = [
        agent.when(m.Ask(order, False), *groups, otherwise=groups[::-1]),
        agent.when(m.Ask(later)),
        agent.drain(e, 1),
        agent.touch(write(one)),
        agent.drain(e),
        agent.touch(write(other)),
    ]
    return draft.system()


def commits_before_the_group_or_behind() -> m.System:
    """A drain proves the arrivals before a group, not those behind it."""
    draft = Draft()
    order, later = draft.fact(), draft.fact()
    ring = draft.ring(1)
    bytes_ = draft.segment(written=True)
    agent = draft.agent()
    e, c = agent.engine("e"), agent.cursor(ring.index)
    items = (agent.arrive(ring.full, c, engine=e), agent.touch(read(bytes_), engine=e))
    agent.body = [
        agent.when(m.Ask(order, False), *items, otherwise=items[::-1]),
        agent.when(m.Ask(later)),
        agent.drain(e),
        agent.touch(write(bytes_)),
        agent.arrive(ring.full, c),
    ]
    return draft.system()


def drains_a_commit() -> m.System:
    """What is drained comes behind the arrival, so that its phase is known to be over."""
    draft = Draft()
    ring = draft.ring(1)
    bytes_ = draft.segment(written=True)
    agent = draft.agent()
    e, c = agent.engine("e"), agent.cursor(ring.index)
    items = (agent.arrive(ring.full, c, engine=e), agent.touch(read(bytes_), engine=e))
    agent.body = [*items, agent.drain(e), agent.arrive(ring.full, c)]
    return draft.system()


def hears_of_an_earlier_commit() -> m.System:
    """The second arrival of an engine comes behind its first one."""
    draft = Draft()
    x, y = draft.ring(1), draft.ring(1)
    agent, then = draft.agent(), draft.agent()
    e = agent.engine("e")
    agent.body = [
        agent.arrive(x.full, agent.cursor(x.index), engine=e),
        agent.arrive(y.full, agent.cursor(y.index), engine=e),
    ]
    then.body = [
        then.wait(y.full, then.cursor(y.index)),
        then.arrive(x.full, then.cursor(x.index, 1)),
    ]
    return draft.system()


def commits_behind_a_group() -> m.System:
    """An arrival of an engine says that its earlier groups are done."""
    draft = Draft()
    ring = draft.ring(1)
    bytes_ = draft.segment(written=True)
    agent, then = draft.agent(), draft.agent()
    e = agent.engine("e")
    agent.body = [
        agent.touch(read(bytes_), engine=e),
        agent.arrive(ring.full, agent.cursor(ring.index), engine=e),
    ]
    then.body = [then.wait(ring.full, then.cursor(ring.index)), then.touch(write(bytes_))]
    return draft.system()


def writes_a_stage_under_another_name() -> m.System:
    """The producer also writes stage 0 as such: right in every second round, when it holds that stage."""
    draft = Draft()
    ring = draft.ring(2)
    trips = draft.number("k")
    fill, take = draft.agent(), draft.agent()
    c = fill.cursor(ring.index)
    acquire, commit = fill.wait(ring.empty, c, 1, moves=False), fill.arrive(ring.full, c)
    work = fill.touch(write(ring.cells, c))
    again = fill.touch(write(ring.cells[0][0]))
    # The first question is one of its own, so that all rounds of the second loop begin alike.
    fill.body = [
        fill.when(m.Exceeds(trips, up=None)),
        fill.loop(4, acquire, work, commit),
        fill.loop(trips, acquire, work, again, commit, start=1),
    ]
    c = take.cursor(ring.index)
    body = [take.wait(ring.full, c, moves=False), take.touch(read(ring.cells, c)), take.arrive(ring.empty, c)]
    take.body = [take.loop(4, *body), take.loop(trips, *body, start=1)]
    return draft.system()


def learns_nothing_from_the_first_phase() -> m.System:
    """A wait for phase -1 teaches nothing, one for phase 0 does: which it is depends on a condition."""
    draft = Draft()
    one, three = draft.ring(1, turns=False), draft.ring(3, turns=False)
    cells = ((*three.cells[0], one.cells[0][0]), *three.cells[1:])
    trips = draft.number("k")
    handed = m.Ask(draft.fact(2), False)
    first = m.InRounds((True,), (False,))
    fill, take = draft.agent(), draft.agent()
    c, d = fill.cursor(one.index), fill.cursor(three.index)
    fill.body = [
        fill.loop(
            trips,
            fill.wait(one.empty, c, 1, moves=False),
            fill.touch(write(one.cells, c)),
            fill.when(handed, fill.arrive(one.full, c)),
            fill.touch(write(cells, d)),
            fill.arrive(three.full, d),
        )
    ]
    c, d = take.cursor(one.index), take.cursor(three.index)
    take.body = [
        take.loop(
            trips,
            take.when(first, take.wait(three.full, d, moves=False), take.touch(read(cells, d))),
            take.when(handed, take.wait(one.full, c, moves=False)),
            take.when(handed, take.arrive(one.empty, c)),
        )
    ]
    return draft.system()
