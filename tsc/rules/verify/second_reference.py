"""Says twice what a kernel computes, or names a Python function in a form that is none.

What it does
    Checks that `verify` has `reference` or `python`, not both, and that `python` is `file.py:function`.

Why is this bad
    Nobody knows which of the two is meant, or where the function is.

Example
    verify:
      reference: {y: x}
      python: copy.py

Use instead
    verify:
      python: copy.py:reference
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program

RULE = Rule(
    "TSC194", "second-reference", Severity.ERROR, "`verify.python` stands beside a reference, or for none"
)

_FORM = re.compile(r"[^:]+\.py:[A-Za-z_][A-Za-z0-9_]*")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for a `python` that cannot be used."""
    verify = program.spec.verify
    if verify is None or verify.python is None:
        return
    route = ("verify", "python")
    if verify.reference:
        related = (Place(("verify", "reference"), "key", label="says it too"),)
        message = "`python` stands in place of `reference`, and both are here"
        yield Finding(RULE.name, message, Place(route, "key"), related, "keep one of the two")
    elif not _FORM.fullmatch(verify.python):
        message = f"`{verify.python}` is no function of a file"
        yield Finding(RULE.name, message, Place(route), help="write `file.py:function`")
