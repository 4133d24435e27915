"""A fault that may not exist, told as what keeps the proof open."""

from __future__ import annotations

from dataclasses import replace

from tsc.diagnostics.model import Finding
from tsc.prove.verdict import Alarm
from tsc.rules.proof.teller import Teller
from tsc.rules.proof.trail import conditions

_WHAT = {
    "deadlock": "waits for ever",
    "lap": "looks too late",
    "early": "passes too early",
    "arrive": "arrives in another phase",
    "race": "races",
    "leftover": "leaves a fill over",
    "unwritten": "reads what nothing has written",
    "stale": "reads what an older fill has left",
}


def doubtful(rule: str, teller: Teller, alarm: Alarm, allow: str) -> Finding:
    """Tell of a fault whose conditions contradict each other, so that no run has it."""
    found = conditions(teller, alarm)
    where = alarm.blocked[0].where if alarm.blocked else alarm.at
    waits = teller.waiting(where.agent, where.barrier) if where.barrier is not None else []
    if alarm.kind == "leftover" and waits:
        where = replace(where, route=waits[0])
    return Finding(
        rule,
        f"the schedule is not proved: {teller.name(where.agent)} {_WHAT[alarm.kind]} at "
        f"{teller.quoted(where)}{teller.when(where)} where {found}, and the proof cannot use that these "
        "contradict each other",
        teller.place(where, "where it shows"),
        help=f"write both in the same form, or give both the same `key`, {allow}",
    )
