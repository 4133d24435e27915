"""Two accesses of the same bytes that nothing orders, told as one finding."""

from __future__ import annotations

from tsc.diagnostics.model import Finding, Place
from tsc.prove.verdict import Alarm, Where
from tsc.rules.proof.teller import Access, Teller
from tsc.rules.proof.trail import given

_WAITS = {
    "wgmma": "`wgmma_wait: 0`",
    "tma_store": "`store_wait: 0`",
    "bulk_store": "`store_wait: 0`",
    "tma_reduce": "`store_wait: 0`",
}


UNORDERED = "nothing orders the two"


def race(rule: str, teller: Teller, alarm: Alarm, *, lacks: str = UNORDERED, help: str = "") -> Finding:
    """Tell of a race, at the step that comes second in the run that shows it, and of the edge it `lacks`."""
    segment, other = alarm.segment, alarm.other
    if segment is None or other is None:
        raise ValueError("a race has two accesses and a segment")
    first, second = teller.access(other, segment), teller.access(alarm.at, segment)
    part = teller.part(second, segment)
    meets = teller.part(first, segment)
    shared = teller.span(segment)
    lying = f" ({shared})" if shared else ""
    under = f", which lies on {meets}," if meets != part else ""
    return Finding(
        rule,
        f"{teller.name(second.where.agent)} {_does(second, teller)} {part}{under} at "
        f"{teller.quoted(second.where)}"
        f"{_while(teller, first, second)}{given(teller, alarm)}",
        teller.place(second.where, f"{_does(second)} {part}{teller.when(second.where)}{lying}"),
        (
            Place(
                first.where.route,
                label=f"{teller.name(first.where.agent)} {_does(first, teller)} {meets} here"
                f"{teller.when(first.where)}, and {lacks}",
            ),
        ),
        help=help or edit(teller, first, second),
    )


def _does(access: Access, of: Teller | None = None) -> str:
    many = of is not None and of.translation.agents[access.where.agent].part == "others"
    return ("write" if access.write else "read") + ("" if many else "s")


def _while(teller: Teller, first: Access, second: Access) -> str:
    doing = "writing" if first.write else "reading"
    own = first.where.agent == second.where.agent
    step, who = teller.quoted(first.where), teller.name(first.where.agent)
    if first.engine:
        return f" while {f'its {step}' if own else f'{step} of {who}'} may still be {doing} it"
    return f" while {who} may be {doing} it at {step}"


def edit(teller: Teller, first: Access, second: Access) -> str:
    """Say the edit that puts the first access before the second."""
    later, loads = teller.quoted(second.where), ("tma_load", "bulk_load", "cp_async")
    same = first.where.agent == second.where.agent
    memory = teller.program.memories.get(first.owner.resource) if first.owner is not None else None
    ring = memory.name if memory is not None and memory.ring else None
    waiting = _WAITS.get(first.engine)
    if waiting is not None:
        if first.write and first.engine != "wgmma":
            waiting = "`{store_wait: 0, until: written}`"
        if same:
            return f"put {waiting} before {later}"
        if ring is not None and _unreleased(teller, ring):
            return (
                f"put {waiting} behind {teller.quoted(first.where)}, and a `signal` that "
                f"{teller.name(second.where.agent)} waits for behind that"
            )
        given_back = f"`release: {ring}`" if ring is not None else "what tells the other task"
        return f"put {waiting} before {given_back} in {teller.name(first.where.agent)}"
    if first.engine == "cluster_copy" and not first.write:
        return f"put {later} behind the `acquire` that takes the copied stage again: then the copy has read"
    if second.engine == "cluster_copy" and not second.write and _behind(first, second):
        earlier = teller.quoted(first.where)
        return f"put {earlier} behind the `acquire` that takes the copied stage again: then the copy has read"
    if same and first.engine in loads and second.engine in loads:
        between = f"`commit: {ring}` and `acquire: {ring}`" if ring is not None else "a wait"
        return f"load into another buffer, or put {between} between the two"
    if ring is None:
        name = f"`{memory.name}`" if memory is not None else "it"
        if first.engine.startswith("tcgen05"):
            # The arrivals of a signal are a thread's own, of which none waits for the tensor core.
            return (
                f"give {name} `stages` and put both steps into brackets, which the tensor core closes itself"
            )
        return (
            f"put `task_sync` between the two, or give {name} `stages` and brackets"
            if same
            else f"give {name} `stages` and put both steps into brackets, or order them by a `signal`"
        )
    if first.write:
        return f"put `wait: {ring}` before {later}, and `commit: {ring}` behind {teller.quoted(first.where)}"
    return f"put `release: {ring}` behind {teller.quoted(first.where)}, and `acquire: {ring}` before {later}"


def _behind(first: Access, second: Access) -> bool:
    """Whether an access stands behind another one in the text of one task."""
    one, other = first.where.route, second.where.route
    return one[:2] == other[:2] and one > other


def _unreleased(teller: Teller, ring: str) -> bool:
    """Whether it is a store ring, whose stages no step gives back."""
    pipeline = next((it for (name, _), it in teller.program.pipelines.items() if name == ring), None)
    return pipeline is not None and pipeline.store_ring


def unfenced(teller: Teller, alarm: Alarm) -> bool:
    """Whether the earlier access is ordered before the later one, and only a proxy fence lacks between."""
    if alarm.other is None or alarm.segment is None:
        return False
    first, second = (teller.access(where, alarm.segment) for where in (alarm.other, alarm.at))
    if first.engine or not first.write or not second.engine:
        return False
    from tsc.prove.proof import record

    events = record(teller.system, alarm)
    begin = next((i for i, event in enumerate(events) if _same(event.where, alarm.other)), None)
    if begin is None:
        return False
    known = {begin}  # events behind the write, as each agent knows
    last: dict[int, int] = {}
    for i, event in enumerate(events):
        if i > begin and (known.intersection(event.after) or last.get(event.where.agent) in known):
            known.add(i)
            if _same(event.where, alarm.at):
                return True
        if event.what != "landed":
            last[event.where.agent] = i
    return False


def _same(one: Where, other: Where) -> bool:
    return (one.agent, one.route, one.tile, one.rounds) == (
        other.agent,
        other.route,
        other.tile,
        other.rounds,
    )
