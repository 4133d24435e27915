"""Tasks that stand still for ever, told as one finding at the step that is the cause."""

from __future__ import annotations

from tsc.diagnostics.model import Finding, Place
from tsc.prove.verdict import Alarm, Blocked
from tsc.rules.proof.teller import Teller
from tsc.rules.proof.trail import given
from tsc.spec.wording import count


def deadlock(rule: str, teller: Teller, alarm: Alarm) -> Finding:
    """Tell of a deadlock: first whoever waits for a task that has ended, else all that wait in a circle."""
    standing = {one.where.agent: one for one in alarm.blocked}
    ended = [(one, _ended(one, standing)) for one in alarm.blocked]
    cause, gone = next(((one, agents) for one, agents in ended if agents), (None, ()))
    if cause is not None:
        ring = [cause]
        has = "has" if len(gone) == 1 else "have"
        sentence = (
            f"{teller.name(cause.where.agent)} waits for ever for {_deed(teller, cause, gone)}"
            f"{teller.when(cause.where)}, and {teller.names(gone)} {has} ended"
        )
    else:
        ring = _circle(alarm.blocked, standing)
        cause = ring[0]
        sentence = _sentence(teller, ring)
    others = [one for one in (*ring[1:], *alarm.blocked) if one is not cause]
    related = [_waits(teller, one, standing) for one in dict.fromkeys(others)]
    related += [
        place
        for agent in gone
        for place in _arrivals(teller, agent, cause)
        if place.route != cause.where.route
    ]
    return Finding(
        rule,
        sentence + given(teller, alarm),
        teller.place(cause.where, f"waits for {_deed(teller, cause, gone or cause.missing)}"),
        tuple(related),
        help=_edit(teller, cause, gone) if gone else _untie(teller, ring),
    )


def owners(teller: Teller, *alarms: Alarm) -> set[str]:
    """Return the rings, turns and barriers at which alarms are told."""
    found = set()
    for alarm in alarms:
        where = _cause(alarm).where if alarm.blocked else alarm.at
        found.add(teller.owner(where.barrier) if where.barrier is not None else "")
    return found


def _cause(alarm: Alarm) -> Blocked:
    standing = {one.where.agent: one for one in alarm.blocked}
    ended = next((one for one in alarm.blocked if _ended(one, standing)), None)
    return ended or _circle(alarm.blocked, standing)[0]


def _ended(one: Blocked, standing: dict[int, Blocked]) -> tuple[int, ...]:
    return tuple(agent for agent in one.missing if agent not in standing)


def _circle(blocked: tuple[Blocked, ...], standing: dict[int, Blocked]) -> list[Blocked]:
    """Return those that wait for each other, in the order in which they wait, the first task first."""
    path: list[Blocked] = []
    one = blocked[0]
    while one not in path:
        path.append(one)
        following = [standing[agent] for agent in one.missing if agent in standing]
        if not following:
            return path
        one = following[0]
    ring = path[path.index(one) :]
    first = min(range(len(ring)), key=lambda i: ring[i].where.agent)
    return ring[first:] + ring[:first]


def _sentence(teller: Teller, ring: list[Blocked]) -> str:
    first = ring[0]
    if len(ring) == 1:
        of = "itself" if first.where.agent in first.missing else teller.stage(first.where)
        return f"{teller.name(first.where.agent)} waits for ever for {of}{teller.when(first.where)}"
    names = teller.names(tuple(one.where.agent for one in ring))
    steps = ", ".join(f"{teller.name(one.where.agent)} at {teller.quoted(one.where)}" for one in ring)
    each = "each other" if len(ring) == 2 else "one another in a circle"
    return f"{names} wait for {each} for ever: {steps}"


def _waits(teller: Teller, one: Blocked, standing: dict[int, Blocked]) -> Place:
    what = teller.stage(one.where)
    who = teller.names(one.missing)
    owes = (
        f": {who} {'has' if len(one.missing) == 1 else 'have'} to {teller.deed(one.where)} it" if who else ""
    )
    return teller.place(
        one.where, f"{teller.name(one.where.agent)} waits here for {what}{teller.when(one.where)}{owes}"
    )


def _deed(teller: Teller, one: Blocked, agents: tuple[int, ...]) -> str:
    """Say what a blocked task waits for: `mma` to release stage 1 of `ab`."""
    what = teller.stage(one.where)
    return f"{teller.names(agents)} to {teller.deed(one.where)} {what}" if agents else what


def _arrivals(teller: Teller, agent: int, cause: Blocked) -> list[Place]:
    barrier = cause.where.barrier
    found = []
    if barrier is None:
        return []
    for route in teller.arrivals(agent, barrier):
        only = teller.only(agent, route)
        does = f"{teller.name(agent)} {teller.does(barrier)} here" + (f", {only}" if only else "")
        found.append(Place(route, label=does))
    return found[:3]


def _edit(teller: Teller, cause: Blocked, gone: tuple[int, ...]) -> str:
    barrier = cause.where.barrier
    if barrier is None:
        return ""
    deed, owner = teller.deed(cause.where), teller.owner(barrier)
    waiter = teller.name(cause.where.agent)
    for agent in gone:
        for route in teller.arrivals(agent, barrier):
            if teller.only(agent, route):
                return (
                    f"let {teller.name(agent)} {deed} {owner} as often as {waiter} waits for it: under the "
                    "same condition, or on every path"
                )
    source = teller.translation.barriers[barrier]
    memory = teller.program.memories.get(source.owner)
    lanes = max(memory.lanes) if memory is not None else 1
    more = f"; lanes count on from tile to tile, so that each tile has a multiple of {lanes} rounds"
    return f"let {teller.names(gone)} and {waiter} go round {owner} equally often{more if lanes > 1 else ''}"


def _untie(teller: Teller, ring: list[Blocked]) -> str:
    for one in ring:
        barrier = one.where.barrier
        if barrier is None:
            continue
        source = teller.translation.barriers[barrier]
        if source.side == "empty":
            stages = teller.system.rings[teller.system.barriers[barrier].ring].stages
            owner = teller.owner(barrier)
            who = teller.names(one.missing)
            if who:
                more = f"more than {count(stages, 'stage')}"
                return f"let {who} release {owner} before the step it waits at, or give {owner} {more}"
            # Where peers or the tensor core read a ring, its filler waits at its end until all has come back.
            return f"release {owner} behind its last read"
    return "let one of them do its part before it waits"
