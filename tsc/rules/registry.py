"""The rules, family by family. A rule is one file and its line in the family's `RULES`.

A rule's module has a docstring, the record `RULE` and, unless the reader or the models report it, a generator
`check(program)` of findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING

from tsc.diagnostics.model import Finding, Rule
from tsc.rules import (
    advice,
    brackets,
    capacity,
    compiler,
    matrix,
    names,
    pdl,
    proof,
    queue,
    roles,
    routing,
    structure,
    target,
    text,
    tiles,
    verify,
)

if TYPE_CHECKING:
    from tsc.program.model import Program

Check = Callable[["Program"], Iterator[Finding]]

MODULES: tuple[ModuleType, ...] = (
    *text.RULES,
    *names.RULES,
    *structure.RULES,
    *routing.RULES,
    *roles.RULES,
    *verify.RULES,
    *capacity.RULES,
    *matrix.RULES,
    *brackets.RULES,
    *queue.RULES,
    *pdl.RULES,
    *target.RULES,
    *tiles.RULES,
    *proof.RULES,
    *compiler.RULES,
    *advice.RULES,
)

RULES: tuple[Rule, ...] = tuple(sorted((module.RULE for module in MODULES), key=lambda rule: rule.code))

OF_BUILD: frozenset[str] = frozenset(module.RULE.name for module in compiler.RULES)
"""Names of the rules that only a build reports."""

OF_PROOF: frozenset[str] = frozenset(
    module.RULE.name for module in MODULES if getattr(module, "PROOF", False)
)
"""Names of the rules that tell what the proof of the schedule finds."""

_MODULES = {module.RULE.name: module for module in MODULES}
_BY_NAME = {rule.name: rule for rule in RULES} | {rule.code: rule for rule in RULES}


def by_name(name: str) -> Rule | None:
    """Return a rule by its name or its code; nothing if there is none."""
    return _BY_NAME.get(name)


def checks(*, sound: bool = False, proof: bool = False) -> tuple[tuple[Rule, Check], ...]:
    """Return the rules that look at a program, by code, each with its check.

    With `sound` those that look only at a program without errors (their module says `SOUND = True`), with
    `proof` those that look at the proof of one (`PROOF = True`, or a `check_proof` beside the check).
    """
    found = tuple((rule, _MODULES[rule.name]) for rule in RULES)
    checks = tuple(
        (rule, module.check)
        for rule, module in found
        if hasattr(module, "check")
        and getattr(module, "SOUND", False) is sound
        and getattr(module, "PROOF", False) is proof
    )
    late = tuple((rule, module.check_proof) for rule, module in found if hasattr(module, "check_proof"))
    return (*checks, *late) if proof else checks


def documentation(rule: Rule) -> str:
    """Return what `tsc explain` says about a rule: the docstring of its file."""
    return (_MODULES[rule.name].__doc__ or "").strip() + "\n"
