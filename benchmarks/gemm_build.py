"""Builds the cubins that `gemm.py` measures, and the plan that says which are tried on which shape.

    python benchmarks/gemm_build.py --out build/gemm

`gemm_configurations.json` names configurations (a spec below specs/gemm and what is set in it; `vary` adds
some, each under its name and a suffix) and, for each shape, which are tried, with `*` for any text. One that
does not check, prove or compile is left out and said.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tsc.check import Proof
from tsc.spec.overrides import Overrides
from tsc.tune.compile import Job, build, each
from tsc.tune.space import Point

CONFIGURATIONS = Path(__file__).with_name("gemm_configurations.json")
SPECS = Path(__file__).resolve().parents[1] / "specs" / "gemm"


def configurations(data: dict[str, Any]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return spec and settings of every configuration, variants included, by name."""
    found = {}
    for name, one in data["configurations"].items():
        found[name] = one["spec"], one["set"]
        for suffix, more in one["vary"].items():
            found[f"{name}-{suffix}"] = one["spec"], {**one["set"], **more}
    return found


def matching(patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the names that one of the patterns means, in the order of the patterns."""
    return list(dict.fromkeys(name for pattern in patterns for name in fnmatch.filter(names, pattern)))


def plan_of(data: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the plan for `gemm.py`, with what there are cubins of."""
    return {
        "shapes": {shape: matching(patterns, names) for shape, patterns in data["shapes"].items()},
        "more": [{**case, "try": matching(case["try"], names)} for case in data["more"]],
    }


def main() -> None:
    """Build what some shape tries."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--configurations", type=Path, default=CONFIGURATIONS)
    parser.add_argument("--only", action="append", help="names or patterns of configurations")
    parser.add_argument("--jobs", type=int, default=0)
    given = parser.parse_args()
    data = json.loads(given.configurations.read_text(encoding="utf-8"))
    known = configurations(data)
    tried = [pattern for patterns in data["shapes"].values() for pattern in patterns]
    tried += [pattern for case in data["more"] for pattern in case["try"]]
    wanted = matching(given.only or tried, list(known))
    given.out.mkdir(parents=True, exist_ok=True)
    for spec in sorted({known[name][0] for name in wanted}):
        path = str(SPECS / f"{spec}.tsc.yaml")
        points = [Point(name, known[name][1]) for name in wanted if known[name][0] == spec]
        for outcome in each(build, Job(path, Overrides(), Proof()), points, given.jobs):
            file = given.out / f"{outcome.point}.cubin"
            if outcome.fits:
                file.write_bytes(outcome.cubin)
                spills = f", {outcome.spills:,} B of spills" if outcome.spills else ""
                print(f"{outcome.point}: {outcome.registers} registers{spills}", flush=True)
            else:
                file.unlink(missing_ok=True)
                print(f"{outcome.point} is left out: {outcome.rule}: {outcome.reason}", flush=True)
    there = [name for name in known if (given.out / f"{name}.cubin").is_file()]
    plan = json.dumps(plan_of(data, there), indent=1) + "\n"
    (given.out / "plan.json").write_text(plan, encoding="utf-8")


if __name__ == "__main__":
    main()
