"""What `-D` means to a command that runs kernels: constants of the spec, sizes and numbers of a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsc.cli.exits import FAULT_OF_SPEC, FAULT_OF_TOOL, fail

if TYPE_CHECKING:
    from tsc.program.model import Program
    from tsc.runtime.driver import Cuda
    from tsc.spec.document import Spec
    from tsc.verify.plan import Plan


def apart(defines: Sequence[str], data: object) -> tuple[list[str], list[str]]:
    """The defines of constants that a document declares, and the others, which are values of a case."""
    declared = data.get("constants") if isinstance(data, dict) else None
    names = declared.keys() if isinstance(declared, dict) else ()
    constants = [text for text in defines if text.partition("=")[0].strip() in names]
    return constants, [text for text in defines if text not in constants]


def case_of(values: Sequence[str]) -> dict[str, Any]:
    """The case that `NAME=VALUE` texts, or several by commas, give; a wrong one ends the command."""
    from tsc.verify.choose import values_of
    from tsc.verify.plan import PlanError

    try:
        return dict(values_of(",".join(values))) if values else {}
    except PlanError as error:
        fail(str(error))


def belongs(case: Mapping[str, Any], program: Program) -> None:
    """End the command if a case gives a value to what the kernel does not take."""
    from tsc.expr.hints import listing

    taken = [*program.dims, *program.scalars]
    for name in case:
        if name not in taken and name not in program.constants:
            sizes = f"its sizes and numbers are {listing(taken)}" if taken else "it has no sizes"
            fail(f"the kernel takes no `{name}`; {sizes}")


def complete(case: Mapping[str, Any], program: Program) -> None:
    """End the command if a case belongs to another kernel, or leaves a size or a number open."""
    from tsc.expr.hints import listing

    belongs(case, program)
    missing = [name for name in (*program.dims, *program.scalars) if name not in case]
    if missing:
        shown = ",".join(f"{name}={value}" for name, value in case.items())
        fail(f"the case {f'`{shown}` ' if shown else ''}gives no value to {listing(missing)}")


def filled(values: Mapping[str, Any], spec: Spec, cases: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """A case of the values given; what they leave open is as in the first case, of `cases` or of the spec.

    Numbers that no case of `tune` gives are those of the first case of `verify`.
    """
    verified = spec.verify.cases[0] if spec.verify is not None and spec.verify.cases else {}
    tuned = spec.tune.cases[0] if spec.tune is not None and spec.tune.cases else {}
    first = dict(cases[0] if cases else tuned or verified)
    numbers = {name: value for name, value in verified.items() if name in spec.params}
    return {**numbers, **first, **values}


def plan_or_none(spec: Spec, name: str) -> Plan:
    """The plan of a spec, or one that says nothing where the spec does not say what is computed."""
    from tsc.verify.plan import Plan, PlanError
    from tsc.verify.planning import plan_of

    verify = spec.verify
    path = Path(name)
    try:
        if verify is None or (not verify.reference and verify.python is None):
            return Plan(kernel=spec.kernel, spec=path.name)
        return plan_of(spec, path.name, path.parent)
    except PlanError as error:
        fail(str(error), FAULT_OF_SPEC)


def refuse_cubin(spec: str, module: str) -> None:
    """End the command if it is given a cubin where it takes a spec; `module` runs one without its spec."""
    if spec.endswith(".cubin"):
        command = module.split(".")[1]
        fail(
            f"`{spec}` is a cubin: write `tsc {command} SPEC --cubin {spec}`, or `python -m {module} {spec}`"
        )


def opponents(against: Sequence[str]) -> None:
    """End the command if whom a kernel races is neither known by name nor a cubin."""
    from tsc.bench.against import NAMED
    from tsc.expr.hints import did_you_mean, listing

    for whom in against:
        if whom not in NAMED and not Path(whom).is_file():
            hint = did_you_mean(whom, NAMED) or f"there are {listing(NAMED)}, and the files of cubins"
            fail(f"`--against {whom}` names no file; {hint}")


def look_for_gpu(otherwise: str) -> Cuda:
    """The driver; where nothing could run the command ends before a build, and says what can be done."""
    from tsc.runtime.driver import connect
    from tsc.runtime.errors import KernelError

    try:
        return connect()
    except KernelError as error:
        fail(f"{error}; {otherwise}", FAULT_OF_TOOL)
