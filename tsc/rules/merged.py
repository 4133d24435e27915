"""One list of findings of those for several targets: what holds for some of them names these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tsc.diagnostics.model import Finding
from tsc.expr.hints import listing

# What one target does not use may be there for another.
_FOR_ALL = {"unused-resource", "unused-declaration"}


def merged(targets: Sequence[str], told: Sequence[Sequence[Finding]]) -> list[Finding]:
    """Return the findings about each target, once each; `told` has a list for each of `targets`."""
    found: dict[Finding, list[str]] = {}
    for target, findings in zip(targets, told, strict=True):
        for finding in dict.fromkeys(findings):
            found.setdefault(finding, []).append(target)
    merged = []
    for finding, where in found.items():
        if len(where) == len(targets):
            merged.append(finding)
        elif finding.rule not in _FOR_ALL:
            named = any(f"`{target}" in finding.message for target in where)
            names = listing(where)
            merged.append(finding if named else replace(finding, message=f"{finding.message}, on {names}"))
    return merged
