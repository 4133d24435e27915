"""Waits and arrivals outside their window, and what is left over at the end, each told as one finding."""

from __future__ import annotations

from tsc.diagnostics.model import Finding, Place
from tsc.prove.verdict import OUTSIDE, Alarm, Where
from tsc.rules.proof.teller import Teller
from tsc.rules.proof.trail import given


def lapped(rule: str, teller: Teller, alarm: Alarm) -> Finding:
    """Tell of a wait that may come when its barrier has gone round."""
    wait, arrival = _wait_first(teller, alarm)
    stage, who = teller.stage(wait), teller.name(wait.agent)
    by = f": {teller.name(arrival.agent)} does not wait for {who}" if arrival is not None else ""
    return Finding(
        rule,
        f"{who} may look at {stage}{teller.when(wait)} when its barrier has gone round once more, "
        f"and then waits for ever{by}{given(teller, alarm)}",
        teller.place(wait, f"waits for phase {wait.phase} of {stage}"),
        _related(teller, arrival, f"ends the phase after it without waiting for {who}"),
        help=f"let {who} `release` what it waits for"
        + (f", or let {teller.name(arrival.agent)} wait for it" if arrival is not None else ""),
    )


def early(rule: str, teller: Teller, alarm: Alarm) -> Finding:
    """Tell of a wait that may pass on the bit of the phase before the one it is for."""
    wait, arrival = _wait_first(teller, alarm)
    stage, who = teller.stage(wait), teller.name(wait.agent)
    before = (wait.phase or 0) - 1
    side = teller.side(wait)
    short = {"full": "nothing has come", "empty": "it is still in use"}.get(side, "nobody has come")
    return Finding(
        rule,
        f"{teller.quoted(wait)} of {who} may pass{teller.when(wait)} although {short}: nothing tells {who} "
        f"that phase {before} of {stage} is over{given(teller, alarm)}",
        teller.place(wait, f"is for phase {wait.phase} of {stage}, and may see the bit of the one before"),
        _related(teller, arrival, f"belongs to phase {before}"),
        help=_early_edit(teller, wait),
    )


def _early_edit(teller: Teller, wait: Where) -> str:
    who = teller.name(wait.agent)
    barrier = wait.barrier
    if barrier is None:
        return f"let {who} wait for the phase before"
    owner, source = teller.owner(barrier), teller.translation.barriers[barrier]
    memory = teller.program.memories.get(source.owner)
    lanes = max(memory.lanes) if memory is not None else 1
    if memory is not None and lanes > 1 and memory.stages and memory.stages % lanes:
        return f"give {owner} a number of stages that is a multiple of its {lanes} lanes"
    return f"let {who} wait for every phase of {owner}, or for a task that has"


_BEFORE = {
    "full": "let {who} `acquire` each stage before it commits it, and no task commit it twice",
    "empty": "let {who} `wait` for each stage before it gives it back, and give it back once",
    "turn": "let {who} `take` its turn before it passes it on",
    "barrier": "let {who} `sync` with the others before it arrives once more",
}


def misplaced(rule: str, teller: Teller, alarm: Alarm) -> Finding:
    """Tell of an arrival that may count for another phase."""
    arrival = alarm.at
    stage, who, phase = teller.stage(arrival), teller.name(arrival.agent), arrival.phase or 0
    help = _BEFORE.get(teller.side(arrival), _BEFORE["barrier"])
    another = f"phase {phase - 1}" if phase else "a phase that others have completed"
    return Finding(
        rule,
        f"{teller.quoted(arrival)} of {who}{teller.when(arrival)} may count for {another} of {stage}, and is "
        f"meant for phase {phase}{given(teller, alarm)}",
        teller.place(
            arrival,
            f"nothing tells {who} that phase {phase - 1} is over" if phase else "one arrival too many",
        ),
        _others(teller, arrival),
        help=help.format(who=who),
    )


def _others(teller: Teller, arrival: Where) -> tuple[Place, ...]:
    """Return where the others arrive at the same barrier."""
    barrier = arrival.barrier
    if barrier is None:
        return ()
    found = {
        route: teller.place(Where(agent, route, OUTSIDE, ()), f"{teller.name(agent)} arrives here")
        for agent in range(len(teller.system.agents))
        for route in teller.arrivals(agent, barrier)
        if route != arrival.route
    }
    return tuple(found.values())[:3]


def left_over(rule: str, teller: Teller, alarm: Alarm) -> Finding:
    """Tell of a fill that nobody takes."""
    taker, barrier = alarm.at, alarm.at.barrier
    if barrier is None:
        raise ValueError("what is left over is a fill of a ring")
    stage, who = teller.stage(taker), teller.name(taker.agent)
    agents = range(len(teller.system.agents))
    fillers = [(agent, route) for agent in agents for route in teller.arrivals(agent, barrier)]
    waits = teller.waiting(taker.agent, barrier)
    names = teller.names(tuple(agent for agent, _ in fillers))
    fill = "fill" if len({agent for agent, _ in fillers}) > 1 else "fills"
    related = []
    for agent, route in fillers:
        only = teller.only(agent, route)
        related.append(
            Place(route, label=f"{teller.name(agent)} fills it here" + (f", {only}" if only else ""))
        )
    only = teller.only(taker.agent, waits[0]) if waits else ""
    return Finding(
        rule,
        f"{names} {fill} {stage} once more than {who} takes it (phase {taker.phase}){given(teller, alarm)}",
        Place(
            waits[0] if waits else taker.route, label=f"{who} takes it here" + (f", {only}" if only else "")
        ),
        tuple(related[:3]),
        help=f"let {who} take it under the same condition" if only else "let both go round equally often",
    )


def _wait_first(teller: Teller, alarm: Alarm) -> tuple[Where, Where | None]:
    """Return the wait and what it meets, whichever of the two shows the alarm."""
    if alarm.other is not None and teller.waits(alarm.other) and not teller.waits(alarm.at):
        return alarm.other, alarm.at
    return alarm.at, alarm.other


def _related(teller: Teller, where: Where | None, what: str) -> tuple[Place, ...]:
    if where is None:
        return ()
    return (teller.place(where, f"{teller.name(where.agent)}{teller.when(where)}: {what}"),)
