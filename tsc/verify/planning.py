"""From a spec to its plan, where the compiler is."""

from __future__ import annotations

from pathlib import Path

from tsc.spec.document import Spec, VerifyInput
from tsc.verify.plan import Function, Input, Plan, PlanError


def plan_of(spec: Spec, name: str, base: Path) -> Plan:
    """The plan of a spec that has been checked; its files are relative to `base`.

    Raises PlanError where the spec says nothing to compare with, or its Python cannot be read.
    """
    verify = spec.verify
    if verify is None or (not verify.reference and verify.python is None):
        raise PlanError(
            f"`{name}` does not say what its kernel computes; write `verify: {{reference: {{OUTPUT: ...}}}}`"
        )
    tolerance = verify.tolerance
    return Plan(
        kernel=spec.kernel,
        spec=name,
        reference=dict(verify.reference),
        python=None if verify.python is None else _function(verify.python, base),
        cases=tuple(dict(case) for case in verify.cases),
        inputs={param: _input(how) for param, how in verify.inputs.items()},
        rtol=None if tolerance is None else tolerance.rtol,
        atol=None if tolerance is None else tolerance.atol,
    )


def _function(written: str, base: Path) -> Function:
    file, _, function = written.rpartition(":")
    try:
        return Function(file, function, (base / file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"`{file}` cannot be read: {error}") from None


def _input(how: VerifyInput) -> Input:
    if how.lengths is not None:
        return Input("lengths", how.lengths)
    return Input("range", how.range) if how.range is not None else Input("zeros")
