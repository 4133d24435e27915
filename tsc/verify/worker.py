"""The process that has the GPU: it runs cases and writes a line of JSON about each."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tsc.notation import NotationError
from tsc.runtime.errors import KernelError
from tsc.runtime.load import load
from tsc.verify.arrays import Arrays
from tsc.verify.case import Checker, Kernel
from tsc.verify.choose import chosen
from tsc.verify.machine import arrays_here
from tsc.verify.plan import PlanError, from_json
from tsc.verify.results import CaseResult, plain

Say = Callable[[dict[str, object]], None]

CALL, MACHINE = 2, 3


def say(line: dict[str, object]) -> None:
    """Write a line at once, so that it is read although the process may not live long."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def work(
    cubin: Path,
    plan_file: Path,
    choices: Sequence[str],
    *,
    skip: int = 0,
    seed: int = 0,
    say: Say = say,
    find_arrays: Callable[[], Arrays] = arrays_here,
    find_kernel: Callable[[Path], Kernel] = load,
) -> None:
    """Run the chosen cases but for the first `skip`, and say `device`, `begin` and `result`, or `error`.

    A failure of the device leaves it unusable to this process, so the run ends there.
    """
    try:
        plan = from_json(plan_file.read_text(encoding="utf-8"), plan_file.name)
        cases = chosen(plan, choices)
    except (OSError, PlanError) as error:
        say({"error": str(error), "code": CALL})
        return
    try:
        arrays = find_arrays()
        kernel = find_kernel(cubin)
        checker = Checker.of(kernel, plan, arrays)
    except KernelError as error:
        say({"error": str(error), "code": MACHINE})
        return
    except (PlanError, NotationError) as error:
        say({"error": str(error), "code": CALL})
        return
    manifest = kernel.manifest
    say(
        {
            "device": arrays.device,
            "library": arrays.library,
            "kernel": manifest.kernel,
            "arch": manifest.arch,
            "constants": dict(manifest.constants),
            "cases": [[number, dict(case)] for number, case in cases],
        }
    )
    for number, case in cases[skip:]:
        say({"begin": number})
        try:
            result = checker.run(number, case, seed)
        except Exception as error:
            sentence = (str(error).splitlines() or [""])[0]
            failed = CaseResult(number, case, "fault", faults=(f"{type(error).__name__}: {sentence}",))
            say({"result": plain(failed)})
            return
        say({"result": plain(result)})
