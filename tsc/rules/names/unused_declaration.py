"""Declares a constant, let, param, workspace or work that nothing uses.

What it does
    Looks for declarations that no expression, step, snippet, verification or tuning mentions.

Why is this bad
    It reads as if it mattered. An unused param is passed and checked at each call all the same.

Example
    constants: {BM: 128, BN: 128}     # BN is mentioned nowhere

Use instead
    constants: {BM: 128}
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import closest
from tsc.program.model import Program
from tsc.program.names import everywhere, expressions
from tsc.rules.names.references import references, unresolved
from tsc.rules.names.unknown_name import unknown
from tsc.spec.resources import Queue
from tsc.tiles.table import TableOrder

RULE = Rule("TSC115", "unused-declaration", Severity.WARNING, "nothing uses a declaration")

_WORD = re.compile(r"[A-Za-z_]\w*")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each constant, let, param, workspace and work that is not mentioned."""
    spec = program.spec
    used = {name.text for site in program.sites for name in site.expr.names}
    used |= {found.name for found in references(program)} | set(_meant(program))
    for resource in spec.resources.values():
        if isinstance(resource, Queue) and isinstance(resource.order, TableOrder):
            used |= {resource.order.from_, closest(resource.order.from_, spec.params) or ""}
    for work in program.works.values():
        used |= set(_WORD.findall(work.text or ""))
    if spec.tune is not None:
        used |= {name.text for _, expr in expressions(spec.tune.where, ()) for name in expr.names}
    for section in ("constants", "let", "params", "workspace", "work"):
        for name in getattr(spec, section):
            if name not in used:
                yield Finding(
                    RULE.name,
                    f"nothing uses `{name}` of `{section}`",
                    Place((section, name), "key"),
                    help="use it, or take it away",
                )


def _meant(program: Program) -> Iterator[str]:
    """Yield the names that a misspelt one stands for, as another rule says."""
    for found in unresolved(program):
        yield closest(found.name, found.choices) or ""
    for site, name in unknown(program):
        yield closest(name.text, [*site.scope, *everywhere(program.spec)]) or ""
