"""A run as a Chrome trace, for Perfetto: a row a task, a row a stage of each ring, an arrow a hand-over.

Times are made up: an access takes 10 units, a load lands after 20, and whoever waits goes on when it may.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tsc.diagnostics.model import Place
from tsc.prove.example import example
from tsc.prove.proof import record
from tsc.prove.verdict import OUTSIDE, Alarm, Event, Where
from tsc.rules.proof.teller import Teller
from tsc.source.document import Document

if TYPE_CHECKING:
    from tsc.prove.judge import Judgement

_LASTS = {"touch": 10, "landed": 20}
_TASKS, _RINGS = 1, 2


@dataclass(slots=True)
class _Slice:
    """When an event begins and ends."""

    begin: int
    end: int


def chrome(judgement: Judgement, document: Document | None) -> str:
    """Return the trace of the first fault; of a schedule without one, that of a small run."""
    teller = Teller(judgement)
    alarms = (*judgement.faults, *judgement.doubts)
    alarm = alarms[0] if alarms else None
    events = record(teller.system, alarm) if alarm is not None else example(teller.system)
    drawing = _Drawing(teller, document, events)
    drawing.tasks(alarm)
    drawing.rings()
    data = {
        "traceEvents": drawing.found,
        "displayTimeUnit": "ns",
        "otherData": {
            "kernel": teller.program.kernel,
            "outcome": judgement.outcome,
            "shows": f"{alarm.kind} at {teller.quoted(alarm.at)}" if alarm is not None else "a small run",
        },
    }
    return json.dumps(data, indent=1) + "\n"


class _Drawing:
    """The trace events of one run."""

    def __init__(self, teller: Teller, document: Document | None, events: Sequence[Event]) -> None:
        self.teller, self.document, self.events = teller, document, events
        self.slices = _timed(events)
        self.end = max((it.end for it in self.slices), default=0)
        self.found: list[dict[str, Any]] = []

    # ---- tasks ---------------------------------------------------------------------------------------------

    def tasks(self, alarm: Alarm | None) -> None:
        """Draw a row for each task: its steps, what it waits for, and where it stops for ever."""
        self._process(_TASKS, "tasks")
        for agent in range(len(self.teller.system.agents)):
            self._row(_TASKS, agent, self.teller.name(agent).replace("`", ""))
        for number, event in enumerate(self.events):
            if event.what == "landed":
                continue
            self._slice(
                _TASKS,
                event.where.agent,
                self.slices[number],
                self._title(event.where),
                self._arguments(event.where),
                event.what,
            )
        for number, event in enumerate(self.events):
            self._arrow(number, event)
        if alarm is not None:
            self._mark(alarm)

    def _arrow(self, number: int, event: Event) -> None:
        """Draw an arrow from the arrival that came last to the wait that it lets go."""
        others = [i for i in event.after if self.events[i].where.agent != event.where.agent]
        if event.what != "wait" or not others:
            return
        giver = max(others, key=lambda i: self.slices[i].end)
        source, taker = self.events[giver].where, self.slices[number]
        issued = self.slices[giver]
        if self.events[giver].what == "landed":
            issued = self.slices[self.events[giver].after[0]]
        flow = {"cat": "hand-over", "name": "lets go", "id": number, "pid": _TASKS}
        self.found.append(flow | {"ph": "s", "tid": source.agent, "ts": issued.begin})
        self.found.append(flow | {"ph": "f", "bp": "e", "tid": event.where.agent, "ts": taker.end - 1})

    def _mark(self, alarm: Alarm) -> None:
        """Draw what is wrong: waits to the end for a deadlock, marks at the steps that meet for all else."""
        last = self.end + 20
        for one in alarm.blocked:
            agent = one.where.agent
            begin = self._free(agent)
            self._slice(
                _TASKS,
                agent,
                _Slice(begin, last),
                f"waits for ever: {self._title(one.where)}",
                self._arguments(one.where) | {"missing": self.teller.names(one.missing).replace("`", "")},
                "deadlock",
            )
        for where in (alarm.at, alarm.other) if not alarm.blocked else ():
            if where is not None:
                self.found.append(
                    {
                        "ph": "i",
                        "s": "t",
                        "cat": alarm.kind,
                        "name": f"{alarm.kind}: {self._title(where)}",
                        "pid": _TASKS,
                        "tid": where.agent,
                        "ts": self._begin(where),
                        "args": self._arguments(where),
                    }
                )

    def _free(self, agent: int) -> int:
        mine = [
            it.end for it, event in zip(self.slices, self.events, strict=True) if event.where.agent == agent
        ]
        return max(mine, default=0)

    def _begin(self, where: Where) -> int:
        same = (where.agent, where.route, where.tile, where.rounds)
        for it, event in zip(self.slices, self.events, strict=True):
            there = event.where
            if (there.agent, there.route, there.tile, there.rounds) == same:
                return it.begin
        return self._free(where.agent)

    # ---- rings ---------------------------------------------------------------------------------------------

    def rings(self) -> None:
        """Draw a row for each stage: from its acquire until it is full, and from then until it is free."""
        self._process(_RINGS, "rings")
        row = 0
        times = self._times()
        for (owner, copy, cta), (full, empty) in self._pairs().items():
            stages = self.teller.system.rings[self.teller.system.barriers[full].ring].stages
            name = self.teller.owner(full).replace("`", "")
            for stage in range(stages):
                label = f"{name}, stage {stage}" + (f", CTA {cta}" if self._several() else "")
                self._row(_RINGS, row, label)
                for title, it, phase in _lives(times, full, empty, stage, self.end):
                    arguments = {"ring": owner, "copy": copy, "stage": stage, "phase": phase}
                    self._slice(_RINGS, row, it, title, arguments, "ring")
                row += 1

    def _several(self) -> bool:
        return len({source.cta for source in self.teller.translation.barriers}) > 1

    def _pairs(self) -> dict[tuple[str, int, int], tuple[int, int | None]]:
        """Return the full and the empty barriers of each ring copy; members of a group may share one."""
        sources = self.teller.translation.barriers
        groups = self.teller.program.groups
        found = {}
        for number, source in enumerate(sources):
            if source.side != "full":
                continue
            near = {source.owner, *(name for name, it in groups.items() if source.owner in it.members)}
            near |= set(groups[source.owner].members) if source.owner in groups else set()
            # Where a CTA before it is told that stages of both are free, that one's barrier counts.
            empties = [
                (-it.cta, i)
                for i, it in enumerate(sources)
                if it.side == "empty" and it.owner in near and it.copy == source.copy and it.cta <= source.cta
            ]
            empty = min(empties)[1] if empties else None
            found[source.owner, source.copy, source.cta] = (number, empty)
        return found

    def _times(self) -> dict[tuple[str, int, int, int], list[int]]:
        """Return the times of waits and arrivals by barrier, stage and phase."""
        found: dict[tuple[str, int, int, int], list[int]] = {}
        for number, event in enumerate(self.events):
            where = event.where
            if where.barrier is None or where.stage is None or where.phase is None:
                continue
            what = "wait" if event.what == "wait" else "arrive"
            at = self.slices[number].end
            if event.what == "load":
                at = self.slices[number + 1].end
            found.setdefault((what, where.barrier, where.stage, where.phase), []).append(at)
        return found

    # ---- what all rows share -------------------------------------------------------------------------------

    def _title(self, where: Where) -> str:
        step = self.teller.step(where)
        verb = step.verb if step is not None else "end"
        if where.barrier is None or where.stage is None:
            return self.teller.quoted(where).replace("`", "")
        return f"{verb} {self.teller.owner(where.barrier).replace('`', '')}[{where.stage}]"

    def _arguments(self, where: Where) -> dict[str, Any]:
        found: dict[str, Any] = {"step": self.teller.quoted(where).replace("`", "")}
        if self.document is not None:
            found["line"] = self.document.span_of(Place(where.route)).start.line
        if where.tile != OUTSIDE:
            found["tile"] = where.tile
        rounds = self.teller.rounds(where)
        if rounds:
            found["round"] = rounds[0] if len(rounds) == 1 else rounds
        if where.phase is not None:
            found |= {"stage": where.stage, "phase": where.phase}
        return found

    def _process(self, process: int, name: str) -> None:
        self.found.append({"ph": "M", "name": "process_name", "pid": process, "args": {"name": name}})

    def _row(self, process: int, row: int, name: str) -> None:
        at = {"ph": "M", "pid": process, "tid": row}
        self.found.append(at | {"name": "thread_name", "args": {"name": name}})
        self.found.append(at | {"name": "thread_sort_index", "args": {"sort_index": row}})

    def _slice(
        self, process: int, row: int, it: _Slice, name: str, arguments: dict[str, Any], kind: str
    ) -> None:
        self.found.append(
            {
                "ph": "X",
                "cat": kind,
                "name": name,
                "pid": process,
                "tid": row,
                "ts": it.begin,
                "dur": max(1, it.end - it.begin),
                "args": arguments,
            }
        )


def _lives(
    times: dict[tuple[str, int, int, int], list[int]], full: int, empty: int | None, stage: int, end: int
) -> Iterator[tuple[str, _Slice, int]]:
    """Yield what a stage goes through: a fill, its use, the next fill."""
    phases = sorted({phase for what, barrier, s, phase in times if barrier == full and s == stage})
    for phase in phases:
        came = times.get(("arrive", full, stage, phase), [])
        taken = times.get(("wait", empty, stage, phase - 1), []) if empty is not None else []
        begin = min([*taken, *came], default=end)
        filled = max(came, default=end)
        yield f"fill {phase}", _Slice(begin, filled), phase
        freed = times.get(("arrive", empty, stage, phase), []) if empty is not None else []
        used = times.get(("wait", full, stage, phase), [])
        if freed or used:
            yield f"use {phase}", _Slice(filled, max(freed, default=end)), phase


def _timed(events: Sequence[Event]) -> list[_Slice]:
    """Give every event a time: after the agent's own last one, and after all that it waits for."""
    free: dict[int, int] = {}
    found: list[_Slice] = []
    for event in events:
        agent = event.where.agent
        begin = free.get(agent, 0)
        if event.what == "landed":
            issued = found[event.after[0]].begin
            found.append(_Slice(issued, issued + _LASTS["landed"]))
            continue
        ready = max((found[i].end for i in event.after), default=0)
        end = max(begin, ready) + _LASTS.get(event.what, 1)
        free[agent] = end  # nothing takes no time, so an arrow has a slice to end in
        found.append(_Slice(begin, end))
    return found
