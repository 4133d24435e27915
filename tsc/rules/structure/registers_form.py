"""Says in two ways, or in none, what a register resource holds.

What it does
    Checks that each resource of kind `registers` has one of `shape`, `per_thread` and `rows_of`, that
    `split` stands beside a `shape`, and that `rows_of` names a fragment.

Why is this bad
    A fragment is spread over the task's threads, `per_thread` values are each thread's own, `rows_of` has
    one for each row of a fragment: how many registers there are follows from which it is.

Example
    acc: {kind: registers, dtype: f32, shape: [128, 64], per_thread: 64}

Use instead
    acc: {kind: registers, dtype: f32, shape: [128, 64]}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.spec.resources import Registers
from tsc.spec.wording import series

RULE = Rule("TSC139", "registers-form", Severity.ERROR, "registers are not of exactly one form")

_FORMS = ("shape", "per_thread", "rows_of")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each register resource that is not in one of the three forms."""
    for name, model in program.spec.resources.items():
        if not isinstance(model, Registers):
            continue
        route = ("resources", name)
        forms = [key for key in _FORMS if getattr(model, key) is not None]
        fragment = program.spec.resources.get(model.rows_of or "")
        if not forms:
            yield Finding(
                RULE.name,
                f"`{name}` does not say how many values it has",
                Place(route, "key"),
                help=f"write one of {series(_FORMS, 'or')}",
            )
        elif len(forms) > 1:
            yield Finding(
                RULE.name,
                f"`{name}` has {series(forms)}, and registers are of one form",
                Place((*route, forms[1]), "key"),
                (Place((*route, forms[0]), "key", label="one form"),),
                help=f"keep one of {series(forms, 'or')}",
            )
        elif "split" in model.model_fields_set and model.shape is None:
            yield Finding(
                RULE.name,
                f"`split` shares a fragment out among warpgroups, and `{name}` has no `shape`",
                Place((*route, "split"), "key"),
                help="take `split` away",
            )
        elif fragment is not None and not (isinstance(fragment, Registers) and fragment.shape is not None):
            yield Finding(
                RULE.name,
                f"`{name}` has a value for each row of `{model.rows_of}`, which is no fragment",
                Place((*route, "rows_of")),
                help="name a resource of kind `registers` with a `shape`",
            )
