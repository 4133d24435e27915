"""Prints the README's table of speeds from the files in `results/`, so that no figure is copied by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
SHOWN = {
    "copy": ("copy_bulk", "copy_tma", "copy_cp_async", "copy_grid_stride"),
    "norm": ("norm_rmsnorm", "torch.rms_norm"),
}


def result(suite: str) -> dict[str, Any]:
    """Return the newest result of a suite."""
    found: dict[str, Any] = json.loads((RESULTS / f"{suite}.json").read_text(encoding="utf-8"))
    return found


def table() -> str:
    """Return the table in Markdown, a row a case and contestant; the bytes are the floor of each."""
    lines = [
        "| case | bytes moved | kernel | microseconds | GB/s | of memcpy |",
        "| --- | ---: | --- | ---: | ---: | ---: |",
    ]
    for suite, names in SHOWN.items():
        for case in result(suite)["cases"]:
            rows = {row["name"]: row for row in case["rows"]}
            for name in ("memcpy", *names):
                row = rows[name]
                lines.append(
                    f"| {case['case']} | {case['bytes']:,} | `{name}` | {row['microseconds']:,} "
                    f"| {row['gb_per_second']:,} | {row['ratio']:.3f} |"
                )
    return "\n".join(lines) + "\n"


def conditions() -> str:
    """Return one sentence on where the figures come from."""
    facts = result("copy")
    return (
        f"Measured on {facts['date']} on one {facts['device']}, driver {facts['driver']}, "
        f"at commit {facts['commit']}: {facts['method']}.\n"
    )


if __name__ == "__main__":
    print(conditions())
    print(table())
