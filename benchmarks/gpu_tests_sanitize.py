"""A few launches of one cubin in this process, for compute-sanitizer; says RIGHT or what is wrong.

    python -m benchmarks.gpu_tests_sanitize F/sanitize/cases/lanes.cubin

A kernel of the generator's tests makes the first launches of its run there; one with a plan beside it, the
cases of that, three times each.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

LAUNCHES = 3


class Enough(Exception):
    """Enough has been launched."""


class Limited:
    """A kernel that can be launched so often."""

    def __init__(self, kernel: Any) -> None:
        self.kernel, self.left = kernel, LAUNCHES

    def __call__(self, *arguments: Any, **named: Any) -> None:
        """Launch, if that is still wanted."""
        if not self.left:
            raise Enough
        self.left -= 1
        self.kernel(*arguments, **named)


def run_of_tests(cubin: Path) -> str:
    """Return what is wrong with a kernel of `tests/emit/cases`."""
    import torch

    import tsc
    from tests.emit.runs import RUNS

    try:
        RUNS[cubin.stem](Limited(tsc.load(cubin)), torch)
    except Enough:
        pass
    except AssertionError as error:
        return str(error)
    torch.cuda.synchronize()
    return ""


def run_of_plan(cubin: Path, plan: Path) -> str:
    """Return what is wrong with a kernel that has a plan."""
    from tsc.verify.worker import work

    said: list[dict[str, Any]] = []
    work(cubin, plan, [], say=said.append)
    results = [line["result"] for line in said if "result" in line]
    wrong = [str(line["error"]) for line in said if "error" in line]
    wrong += [f"{it['case']}: {it['verdict']} {it}" for it in results if it["verdict"] != "ok"]
    return "; ".join(wrong) or ("" if results else "nothing was run")


def main() -> None:
    """Run the cubin of the command line."""
    cubin = Path(sys.argv[1])
    plan = cubin.with_suffix(".plan.json")
    wrong = run_of_plan(cubin, plan) if plan.exists() else run_of_tests(cubin)
    print(f"WRONG {wrong[:500]}" if wrong else "RIGHT", flush=True)


if __name__ == "__main__":
    main()
