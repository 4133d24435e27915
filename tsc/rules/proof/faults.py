"""The faults that the proof found, each told by one rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsc.rules.memo import per_program

if TYPE_CHECKING:
    from tsc.program.model import Program
    from tsc.prove.verdict import Alarm
    from tsc.rules.proof.teller import Teller

STORES = frozenset(("tma_store", "tma_reduce", "bulk_store"))
_KINDS = {
    "deadlock": "deadlock",
    "lap": "lapped-wait",
    "early": "early-wait",
    "arrive": "arrival-out-of-phase",
    "leftover": "unconsumed-fill",
    "unwritten": "read-of-nothing",
    "stale": "read-of-older-fill",
}


def faults(program: Program, rule: str) -> Iterator[tuple[Teller, Alarm]]:
    """Yield the faults that a rule tells of, one for each pair of steps."""
    yield from ((teller, alarm) for name, teller, alarm in _all(program) if name == rule)


@per_program
def _all(program: Program) -> tuple[tuple[str, Teller, Alarm], ...]:
    from tsc.prove.judge import judged
    from tsc.rules.proof.teller import Teller

    judgement = judged(program)
    teller = Teller(judgement)
    found: dict[object, tuple[str, Teller, Alarm]] = {}
    for alarm in judgement.faults:
        name = _rule(teller, alarm)
        steps = (alarm.at.route, alarm.other.route if alarm.other is not None else None)
        found.setdefault((name, steps), (name, teller, alarm))
    return tuple(found.values())


def _rule(teller: Teller, alarm: Alarm) -> str:
    from tsc.rules.proof.guards import difference

    if difference(teller, alarm) is not None:
        return "guards-differ"
    from tsc.rules.proof.bounds import unequal

    if unequal(teller, alarm) is not None:
        return "unequal-trip-counts"
    return _KINDS.get(alarm.kind) or _of_race(teller, alarm)


def _of_race(teller: Teller, alarm: Alarm) -> str:
    from tsc.rules.proof.meeting import unfenced

    if alarm.segment is None or alarm.other is None:
        return "race"
    source = teller.translation.segments[alarm.segment]
    if source.kind == "outside":
        step = teller.step(alarm.at)
        launch = step is not None and step.verb == "pdl_launch"
        return "pdl-launch-before-wait" if launch else "access-before-pdl-wait"
    first, second = (teller.access(where, alarm.segment) for where in (alarm.other, alarm.at))
    if unfenced(teller, alarm):
        return "missing-proxy-fence"
    if first.owner is not None and second.owner is not None and first.owner.resource != second.owner.resource:
        return "overlay-race"
    if first.engine in STORES and second.write and not second.engine:
        return "staging-reused"
    return "race-with-engine" if first.engine or second.engine else "race"
