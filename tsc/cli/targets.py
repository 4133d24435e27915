"""Which of several targets a command is about that takes one: named in the call, or chosen and said."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from tsc.cli.exits import FAULT_OF_TOOL, fail

if TYPE_CHECKING:
    from tsc.check import Report
    from tsc.program.model import Program
    from tsc.runtime.driver import Cuda
    from tsc.spec.overrides import Overrides


def first(report: Report) -> Program:
    """The program of the first target of a report that has programs; of several, says so."""
    program, *others = report.programs
    if others:
        _say(program, report, "the first")
    return program


def at_hand(report: Report, cuda: Cuda) -> Program:
    """The program for the GPU in use, of several targets; none for it ends the command."""
    from tsc.expr.hints import listing
    from tsc.runtime.devices import closeness, runs_on

    if len(report.programs) == 1:
        return report.programs[0]  # one that does not run there is refused where it is loaded
    device = cuda.current_device() or 0
    major = cuda.device_fact(device, "COMPUTE_CAPABILITY_MAJOR")
    minor = cuda.device_fact(device, "COMPUTE_CAPABILITY_MINOR")
    fit = [one for one in report.programs if runs_on(one.arch, major, minor)]
    if not fit:
        archs = listing(one.arch for one in report.programs)
        fail(
            f"the spec is for {archs}, and GPU {device} ({cuda.device_name(device)}) is `sm_{major}{minor}`; "
            "name a target for it with `--arch`",
            FAULT_OF_TOOL,
        )
    program = max(fit, key=lambda one: closeness(one.arch))
    _say(program, report, "the one for this GPU")
    return program


def only(program: Program, changes: Overrides) -> Overrides:
    """What a call changes, and that its spec is for one target."""
    from tsc.spec.overrides import Setting

    target = Setting(("target",), program.arch, f"--arch {program.arch}")
    return replace(changes, settings=(*changes.settings, target))


def _say(program: Program, report: Report, which: str) -> None:
    from tsc.expr.hints import listing

    archs = listing(one.arch for one in report.programs)
    print(f"tsc: `{program.arch}` is taken, {which} of {archs}; `--arch` names another", file=sys.stderr)
