"""`python -m tsc.verify.run DIR`: verifies cubins beside their plans, where only a GPU and PyTorch are."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tsc.verify.plan import SUFFIX, PlanError, from_json
from tsc.verify.results import Results, data, summary, table
from tsc.verify.supervise import supervise
from tsc.verify.worker import work


def pairs(places: Sequence[str]) -> list[tuple[Path, Path]]:
    """The cubins of folders, and those named, each with the plan that lies beside it.

    Raises PlanError where there is none.
    """
    found = []
    for place in map(Path, places):
        if place.is_dir():
            cubins = [path for path in sorted(place.rglob("*.cubin")) if path.with_suffix(SUFFIX).exists()]
            if not cubins:
                raise PlanError(
                    f"`{place}` has no cubin with a plan; `tsc verify SPEC --prepare` writes both"
                )
            found += cubins
        else:
            found.append(place)
    for cubin in found:
        if not cubin.is_file():
            raise PlanError(f"`{cubin}` is no file")
        if not cubin.with_suffix(SUFFIX).is_file():
            raise PlanError(f"`{cubin}` has no `{cubin.with_suffix(SUFFIX).name}` beside it")
    return [(cubin, cubin.with_suffix(SUFFIX)) for cubin in found]


def verify_all(
    found: Sequence[tuple[Path, Path]], choices: Sequence[str], seed: int, timeout: float
) -> tuple[list[Results], int]:
    """Verify each cubin and print its table; the exit code of all."""
    every = []
    code = 0
    for cubin, plan_file in found:
        plan = from_json(plan_file.read_text(encoding="utf-8"), plan_file.name)
        results, wrong = supervise(
            cubin,
            plan_file,
            kernel=plan.kernel,
            spec=plan.spec,
            choices=choices,
            seed=seed,
            timeout=timeout,
        )
        print(table(results), flush=True)
        every.append(results)
        code = max(code, wrong or int(not results.ok))
    return every, code


def options() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tsc.verify.run", description=__doc__)
    parser.add_argument(
        "places", nargs="*", metavar="PATH", help="cubins, or folders of them, plans beside them"
    )
    parser.add_argument("--cubin", type=Path, help="one cubin, whose plan lies elsewhere")
    parser.add_argument("--plan", type=Path, help="its plan")
    parser.add_argument("--case", action="append", default=[], help="a number, or values such as m=128,n=256")
    parser.add_argument("--seed", type=int, default=0, help="another seed gives other inputs")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds a case may take")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results there")
    parser.add_argument("--lines", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--skip", type=int, default=0, help=argparse.SUPPRESS)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Exit codes: 0 all is right, 1 a case is not, 2 the call is wrong, 3 no GPU."""
    parser = options()
    given = parser.parse_args(arguments)
    if (given.cubin is None) != (given.plan is None) or (given.cubin is None and not given.places):
        parser.error("name a folder, cubins, or --cubin and --plan")
    if given.lines:
        work(given.cubin, given.plan, given.case, skip=given.skip, seed=given.seed)
        return 0
    try:
        found = pairs(given.places)
        if given.cubin is not None:
            found.append((given.cubin, given.plan))
        every, code = verify_all(found, given.case, given.seed, given.timeout)
    except (PlanError, OSError) as error:
        print(f"tsc: {error}", file=sys.stderr)
        return 2
    print(summary(every), end="")
    if given.json is not None:
        text = json.dumps({"ok": code == 0, "kernels": [data(one) for one in every]}, indent=2)
        given.json.write_text(text + "\n", encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())
