"""A fault that may not exist, told as what keeps the proof open."""

from __future__ import annotations

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
}


def doubtful(rule: str, teller: Teller, alarm: Alarm, allow: str) -> Finding:
    """Tell of a fault whose conditions may contradict each other."""
    found = conditions(teller, alarm)
    under = f" if {found} can be together" if found else " in a run that may not exist"
    where = alarm.blocked[0].where if alarm.blocked else alarm.at
    return Finding(
        rule,
        f"the schedule is not proved: {teller.name(where.agent)} {_WHAT[alarm.kind]} at "
        f"{teller.quoted(where)}{teller.when(where)}{under}",
        teller.place(where, "where it shows"),
        help=f"say how these are related: under `assert` or `dims`, or by the same `key`; {allow}",
    )
