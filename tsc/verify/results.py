"""What a run found: plain facts, as JSON lines between processes and as a table for people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tsc.verify.plan import Case


@dataclass(frozen=True, slots=True)
class Worst:
    """The element farthest from its reference: `share` is its error over what is tolerated there."""

    index: tuple[int, ...]
    got: float
    wanted: float
    share: float


@dataclass(frozen=True, slots=True)
class OutputResult:
    """One output of one case; `compared` is false where there is no reference for it."""

    name: str
    elements: int
    compared: bool = True
    relative_error: float = 0.0
    worst: Worst | None = None
    faults: tuple[str, ...] = ()
    """what is wrong with it, a sentence each"""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case: `ok`, `wrong`, `refused` (no launch), `fault` (the GPU or the process failed) or `hang`."""

    number: int
    case: Case
    verdict: str
    outputs: tuple[OutputResult, ...] = ()
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    bit_equal: bool | None = None
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether all is well."""
        return self.verdict == "ok"


@dataclass(frozen=True, slots=True)
class Results:
    """All cases of one cubin; `error` says why there are none."""

    kernel: str
    spec: str
    cubin: str
    cases: tuple[CaseResult, ...] = ()
    device: str = ""
    error: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether there are cases and all of them are well."""
        return not self.error and bool(self.cases) and all(case.ok for case in self.cases)


def plain(result: CaseResult) -> dict[str, Any]:
    """A case's result as JSON has it; numbers that JSON lacks are text."""
    return {
        "number": result.number,
        "case": dict(result.case),
        "verdict": result.verdict,
        "outputs": [
            {
                "name": one.name,
                "elements": one.elements,
                "compared": one.compared,
                "relative_error": _number(one.relative_error),
                "worst": None
                if one.worst is None
                else {
                    "index": list(one.worst.index),
                    "got": _number(one.worst.got),
                    "wanted": _number(one.worst.wanted),
                    "share": _number(one.worst.share),
                },
                "faults": list(one.faults),
            }
            for one in result.outputs
        ],
        "faults": list(result.faults),
        "notes": list(result.notes),
        "bit_equal": result.bit_equal,
        "seconds": round(result.seconds, 3),
    }


def read_plain(table: Mapping[str, Any]) -> CaseResult:
    """The result that `plain` wrote."""
    return CaseResult(
        number=table["number"],
        case=table["case"],
        verdict=table["verdict"],
        outputs=tuple(
            OutputResult(
                name=one["name"],
                elements=one["elements"],
                compared=one["compared"],
                relative_error=float(one["relative_error"]),
                worst=None
                if one["worst"] is None
                else Worst(
                    tuple(one["worst"]["index"]),
                    *(float(one["worst"][key]) for key in ("got", "wanted", "share")),
                ),
                faults=tuple(one["faults"]),
            )
            for one in table["outputs"]
        ),
        faults=tuple(table["faults"]),
        notes=tuple(table["notes"]),
        bit_equal=table["bit_equal"],
        seconds=table["seconds"],
    )


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def data(results: Results) -> dict[str, Any]:
    """All of a cubin's results as JSON has them."""
    return {
        "kernel": results.kernel,
        "spec": results.spec,
        "cubin": results.cubin,
        "device": results.device,
        **results.facts,
        "ok": results.ok,
        "error": results.error or None,
        "cases": [plain(case) for case in results.cases],
    }


def shown_case(case: Case) -> str:
    """The values of a case on one line."""
    return " ".join(f"{name}={value}" for name, value in case.items()) or "(no sizes)"


def table(results: Results) -> str:
    """The cases of a cubin as a table, what is wrong and what is worth a note below."""
    head = f"{results.kernel}: {results.spec}" + (f" on {results.device}" if results.device else "")
    rows = [("case", "output", "relative error", "worst element", "verdict")]
    below = []
    for case in results.cases:
        outputs: Sequence[OutputResult | None] = case.outputs or (None,)
        for index, one in enumerate(outputs):
            rows.append(
                (
                    f"{case.number}  {shown_case(case.case)}" if not index else "",
                    one.name if one else "",
                    _error(one),
                    _worst(one),
                    case.verdict if not index else "",
                )
            )
        sentences = [*(fault for one in case.outputs for fault in one.faults), *case.faults]
        below += [f"case {case.number}: {sentence}" for sentence in sentences]
        below += [f"case {case.number}: note: {note}" for note in case.notes]
    lines = [head]
    if results.cases:
        lines += _aligned(rows)
    if results.error:
        below.append(results.error)
    return "\n".join([*lines, *below]) + "\n"


def summary(all_results: Iterable[Results]) -> str:
    """One line for many cubins."""
    found = list(all_results)
    cases = [case for one in found for case in one.cases]
    bad = sum(not case.ok for case in cases)
    unrun = sum(bool(one.error) for one in found)
    line = (
        f"{len(cases) - bad} of {len(cases)} cases of {len(found)} kernel{'s' * (len(found) != 1)} are right"
    )
    return line + (f"; {unrun} could not be run" if unrun else "") + "\n"


def _error(one: OutputResult | None) -> str:
    if one is None or not one.compared:
        return ""
    return f"{one.relative_error:.2e}" if one.elements else "no elements"


def _worst(one: OutputResult | None) -> str:
    if one is None or one.worst is None:
        return ""
    worst = one.worst
    index = ", ".join(map(str, worst.index))
    return f"[{index}] {worst.got:.6g} for {worst.wanted:.6g}, {worst.share:.2g} of the tolerance"


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
