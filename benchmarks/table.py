"""Prints the README's table of speeds from the files in `results/`, so that no figure is copied by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
SHOWN = {
    "copy": (
        "copy_bulk",
        "copy_tma_persistent",
        "copy_tma_persistent_policyatomic",
        "copy_tma",
        "copy_cp_async",
        "copy_grid_stride",
    ),
    "norm": (
        "norm_rmsnorm",
        "norm_rmsnorm_persistent",
        "norm_rmsnorm_persistent_policyatomic",
        "torch.rms_norm",
    ),
}
"""What is held against memcpy."""
COMPARED = ("queue", "chain")
"""Suites whose cases name what they are held against."""


def result(suite: str) -> dict[str, Any]:
    """Return the newest result of a suite."""
    found: dict[str, Any] = json.loads((RESULTS / f"{suite}.json").read_text(encoding="utf-8"))
    return found


def called(name: str) -> str:
    """Return a contestant as the tables call it: a kernel with the policy that was set for its queue."""
    kernel, _, policy = name.partition("_policy")
    if policy:
        return f"`{kernel}`, `policy: {policy}`"
    return name if " " in name else f"`{name}`"


def table() -> str:
    """Return the tables in Markdown, a row a case and contestant; the bytes are the floor of each."""
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
                    f"| {case['case']} | {case['bytes']:,} | {called(name)} | {row['microseconds']:,} "
                    f"| {row['gb_per_second']:,} | {row['ratio']:.3f} |"
                )
    lines += ["", "| case | | microseconds | times as fast |", "| --- | --- | ---: | ---: |"]
    for suite in COMPARED:
        for case in result(suite)["cases"]:
            lines += [
                f"| {case['case']} | {called(row['name'])} | {row['microseconds']:,} | {row['ratio']:.3f} |"
                for row in case["rows"]
            ]
    return "\n".join(lines) + "\n"


def conditions() -> str:
    """Return one sentence on where the figures come from."""
    facts = result("copy")
    commits: dict[str, list[str]] = {}
    for suite in (*SHOWN, *COMPARED):
        commits.setdefault(result(suite)["commit"], []).append(suite)
    taken = [f"{commit} ({', '.join(suites)})" for commit, suites in commits.items()]
    where = f"commit {facts['commit']}" if len(commits) == 1 else f"commits {' and '.join(taken)}"
    return (
        f"Measured on {facts['date']} on one {facts['device']}, driver {facts['driver']}, "
        f"at {where}: {facts['method']}, but for the chain, whose buffers stay in L2.\n"
    )


if __name__ == "__main__":
    print(conditions())
    print(table())
