"""The verdict on a schedule: a line for people, an object for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tsc.diagnostics.model import Place
from tsc.spec.wording import count

if TYPE_CHECKING:
    from tsc.check import Report
    from tsc.prove.judge import Judgement


def line(report: Report) -> str:
    """Say what is proved and on what it rests; nothing where the diagnostics say that something is wrong."""
    if len(dict.fromkeys(map(id, report.judgements))) < 2:
        return _line_of(report, report.judgement, "")
    # What the targets differ in is the schedule, and each has its own proof.
    each = zip(report.programs, report.judgements, strict=True)
    return "".join(_line_of(report, judgement, f" on {program.arch}") for program, judgement in each)


def _line_of(report: Report, judgement: Judgement | None, where: str) -> str:
    if judgement is None or judgement.outcome == "refuted":
        return ""
    states = count(max(1, judgement.verdict.states), "state")
    if judgement.outcome == "unproven":
        return f"{report.name}: not proved{where} ({states})\n"
    rests = (
        f"; rests on: {_listed(list(dict.fromkeys(it.text for it in judgement.promises)))}"
        if judgement.promises
        else ""
    )
    up_to = judgement.verdict.up_to
    range_ = "every size and trip count" if up_to is None else f"sizes and trip counts up to {up_to:,}"
    return f"{report.name}: proved for {range_}{where} ({states}){rests}\n"


def data(report: Report) -> dict[str, Any] | None:
    """Return the verdict as JSON data; nothing where the schedule was not looked at."""
    judgement = report.judgement
    if judgement is None:
        return None
    lines = report.judgements if len(dict.fromkeys(map(id, report.judgements))) > 1 else ()
    targets = [
        {"target": program.arch, "outcome": one.outcome, "states": one.verdict.states}
        for program, one in zip(report.programs, lines, strict=bool(lines))
        if one is not None
    ]
    return {
        "file": report.name,
        **({"targets": targets} if targets else {}),
        "outcome": judgement.outcome,
        "up_to": judgement.verdict.up_to,
        "states": judgement.verdict.states,
        "budget": judgement.budget,
        "promises": [
            {"text": it.text, "line": _line(report, it.route), "route": list(it.route)}
            for it in judgement.promises
        ],
    }


def _line(report: Report, route: tuple[str | int, ...]) -> int | None:
    return report.document.span_of(Place(route)).start.line if report.document is not None else None


def _listed(texts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))
