"""Prints the README's table of speeds from the files in `results/`, so that no figure is copied by hand."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tsc.bench.figures import geometric_mean

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


KINDS = ("settled", "burst")


def best_row(case: dict[str, Any]) -> dict[str, Any]:
    """Return the fastest kernel of a GEMM case: the highest settled ratio."""
    rows = [row for row in case["rows"] if "ratio" in row["settled"]]
    return max(rows, key=lambda row: float(row["settled"]["ratio"]))


def gemm_means(facts: dict[str, Any]) -> dict[str, float]:
    """Return the geometric means over the shapes that count, settled and in bursts."""
    best = [best_row(case) for case in facts["cases"] if case["in_mean"] and case["rows"]]
    return {kind: geometric_mean(row[kind]["ratio"] for row in best) for kind in KINDS}


def gemm_table(facts: dict[str, Any]) -> str:
    """Return the table of GEMM shapes in Markdown: the best kernel of each, held against torch."""
    lines = [
        "| m x n x k | torch, TFLOP/s settled / burst | kernel | TFLOP/s settled / burst | settled | burst |",
        "| --- | ---: | --- | ---: | ---: | ---: |",
        *(_gemm_line(case) for case in facts["cases"] if case["rows"]),
    ]
    means = gemm_means(facts)
    count = sum(bool(case["in_mean"] and case["rows"]) for case in facts["cases"])
    lines.append(f"| geometric mean of {count} | | | | {means['settled']:.3f} | {means['burst']:.3f} |")
    return "\n".join(lines) + "\n"


def _gemm_line(case: dict[str, Any]) -> str:
    best = best_row(case)
    other = next(row for row in case["rows"] if "ratio" not in row["settled"])
    name = case["case"] if case["dtype"] == "bf16" else f"{case['case']}, {case['dtype']}"
    speeds = [" / ".join(f"{row[kind]['tflops']:,.0f}" for kind in KINDS) for row in (other, best)]
    ratios = " | ".join(_ratio(best[kind]) for kind in KINDS)
    return f"| {name} | {speeds[0]} | `{best['name']}` | {speeds[1]} | {ratios} |"


def _ratio(figures: dict[str, Any]) -> str:
    return f"{figures['ratio']:.3f} ± {figures['ratio_error']:.3f}"


def gemm_conditions(facts: dict[str, Any]) -> str:
    """Return one sentence on where the GEMM figures come from."""
    return (
        f"Measured on {facts['date']} on one {facts['device']}, driver {facts['driver']}, "
        f"torch {facts['torch']}, at commit {facts['commit']}: {facts['method']}.\n"
    )


def texts() -> Iterator[str]:
    """Give the parts of the README that are made from results."""
    yield from (conditions(), table())
    if (RESULTS / "gemm.json").is_file():
        facts = result("gemm")
        yield from (gemm_conditions(facts), gemm_table(facts))


if __name__ == "__main__":
    for part in texts():
        print(part)
