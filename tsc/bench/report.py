"""The figures of a bench as plain data and as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tsc.bench.figures import figure, ratio
from tsc.bench.race import Laps
from tsc.bench.work import Work

BENCH_VERSION = 1
KINDS = ("settled", "burst")


def rows(names: Mapping[str, str], laps: Mapping[str, Laps], work: Work) -> list[dict[str, Any]]:
    """A row a contestant, ours first: `names` maps contestants to what was run, `laps` kinds to their laps.

    `ratio` is the time of the contestant over ours: how many times as fast we are.
    """
    ours = next(iter(names))
    return [
        {
            "name": name,
            "ran": words,
            **{kind: _shown(ran, name, ours, work) for kind, ran in laps.items()},
        }
        for name, words in names.items()
    ]


def _shown(laps: Laps, name: str, ours: str, work: Work) -> dict[str, Any]:
    lap = laps[name]
    one = figure(lap.samples, lap.launches)
    shown: dict[str, Any] = {
        "microseconds": round(one.seconds * 1e6, 3),
        "speed": round(work.speed(one.seconds), 1),
        "spread": round(one.spread, 4),
        "standard_error": round(one.error, 4),
        "turns": one.turns,
        "launches": one.launches,
    }
    if name != ours:
        compared = ratio(lap.samples, laps[ours].samples)
        shown |= {"ratio": round(compared.value, 4), "ratio_error": round(compared.error, 4)}
    return shown


def text(result: Mapping[str, Any]) -> str:
    """The result of a bench for people."""
    case = " ".join(f"{name}={value}" for name, value in result["case"].items())
    unit = result["unit"]
    head = f"{result['kernel']}  {case}".rstrip()
    if result.get("relative_error") is not None:
        head += f"  relative error {result['relative_error']:.2e}"
    lines = [head, f"on {result['device']}, torch {result['torch']}"]
    for kind in KINDS:
        table = [(kind, "us", unit, "spread", "times as fast")]
        for row in result["rows"]:
            one = row[kind]
            compared = f"{one['ratio']:.3f} ± {one['ratio_error']:.3f}" if "ratio" in one else ""
            cells = f"{one['microseconds']:,.2f}", f"{one['speed']:,.1f}", f"{one['spread']:.1%}", compared
            table.append((row["name"], *cells))
        lines += ["", *_aligned(table)]
    lines.append("")
    lines += [f"{row['name']} is {row['ran']}" for row in result["rows"][1:]]
    lines += list(result.get("notes", []))
    return "\n".join(lines) + "\n"


def _aligned(table: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    return [
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
