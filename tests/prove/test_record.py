"""What is told of an alarm: the run to it is possible, and who stands still or meets whom is true."""

from __future__ import annotations

from typing import Any

import pytest

from tests.prove.flatten import ARRIVE, DRAIN, FENCE, ISSUE, LOAD, QUEUE, TOUCH, WAIT, Flat, flatten
from tests.prove.oracles import Fixed
from tests.prove.systems import CLASSES, random_system
from tsc.prove import machine as m
from tsc.prove.proof import prove, record
from tsc.prove.verdict import Alarm, Event, Where

Told = tuple[str, int | None, int | None, int | None]
"""What a step is, and the barrier, stage and phase that it is about."""

NAMES = {TOUCH: "touch", ISSUE: "touch", DRAIN: "drain", FENCE: "fence"}


def told_steps(system: m.System, flat: Flat, agent: int) -> list[Told]:
    """Return the steps of an agent as a recorded run has them."""
    stages = [
        (b, s) for b, barrier in enumerate(system.barriers) for s in range(system.rings[barrier.ring].stages)
    ]
    queued = {engine: list(queue) for engine, queue in enumerate(flat.queues) if flat.owner[engine] == agent}
    issued = dict.fromkeys(queued, 0)
    told: list[Told] = []

    def at(name: str, barrier: int, phase: int) -> None:
        told.append((name, *stages[barrier], phase))

    for number, step in enumerate(flat.agents[agent]):
        match step[0]:
            case kind if kind == WAIT:
                at("wait", step[1], step[2])
            case kind if kind == ARRIVE:
                at("arrive", step[1], step[2])
            case kind if kind == LOAD:
                for bit in step[1]:
                    at("load", flat.loads[bit].barrier, flat.loads[bit].phase)
            case kind if kind == QUEUE:
                engine = next(e for e in queued if flat.issued[e][number + 1] > issued[e])
                arrival = queued[engine][issued[engine]].arrival
                assert arrival is not None
                at("arrive", arrival[0], arrival[1])
            case kind:
                told.append((NAMES[kind], None, None, None))
        for engine in queued:
            issued[engine] = flat.issued[engine][number + 1]
    return told


def told(event: Event) -> Told:
    where = event.where
    return event.what, where.barrier, where.stage, where.phase


def check_run(system: m.System, flat: Flat, events: tuple[Event, ...]) -> list[int]:
    """Check that a recorded run can be; return how far each agent gets."""
    expected = [told_steps(system, flat, agent) for agent in range(len(system.agents))]
    reached = [0] * len(expected)
    came: dict[tuple[Any, ...], list[int]] = {}
    for index, event in enumerate(events):
        assert all(0 <= earlier < index for earlier in event.after)
        agent = event.where.agent
        place = (event.where.barrier, event.where.stage, event.where.phase)
        if event.what == "landed":
            assert events[event.after[0]].what == "load"
            came.setdefault(place, []).append(index)
            continue
        assert told(event) == expected[agent][reached[agent]]
        reached[agent] += 1
        if event.what == "wait":
            # Whoever waits for a phase comes behind all that it is made of.
            assert list(event.after) == came.get(place, [])
            assert event.after or event.where.phase == -1
        elif event.what == "arrive":
            came.setdefault(place, []).append(index)
    return reached


def instruction_at(system: m.System, where: Where) -> m.Touch | m.Load:
    found = [
        node
        for node in m.instructions(system.agents[where.agent].body)
        if node.route == where.route and isinstance(node, m.Touch | m.Load)
    ]
    assert found
    return found[0]


def touched(node: m.Touch | m.Load) -> set[int]:
    items = node.items if isinstance(node, m.Touch) else tuple(target.item for target in node.targets)
    return {segment for item in items for cells in item.cells for segment in cells}


def check_alarm(system: m.System, flat: Flat, alarm: Alarm, reached: list[int]) -> None:
    if alarm.kind == "deadlock":
        stuck = {blocked.where.agent: blocked for blocked in alarm.blocked}
        for agent in range(len(system.agents)):
            steps = told_steps(system, flat, agent)
            if agent not in stuck:
                assert reached[agent] == len(steps)
                continue
            where = stuck[agent].where
            assert steps[reached[agent]] == ("wait", where.barrier, where.stage, where.phase)
    elif alarm.kind in ("lap", "early"):
        assert alarm.at.barrier is not None
    elif alarm.kind == "race":
        assert alarm.segment is not None
        assert alarm.other is not None
        for where in (alarm.at, alarm.other):
            assert alarm.segment in touched(instruction_at(system, where))
    elif alarm.kind in ("unwritten", "stale"):
        assert alarm.segment is not None
        assert alarm.segment in touched(instruction_at(system, alarm.at))


@pytest.mark.parametrize("name", CLASSES)
def test_the_run_to_an_alarm_is_possible(name: str) -> None:
    alarms = 0
    for seed in range(25):
        system = random_system(name, seed)
        for alarm in prove(system, 100).alarms:
            flat = flatten(system, Fixed(system, 0, 0, 0, trail=alarm.trail), fences=True)
            reached = check_run(system, flat, record(system, alarm))
            check_alarm(system, flat, alarm, reached)
            alarms += 1
    assert alarms >= 5
