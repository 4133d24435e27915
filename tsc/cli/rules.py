"""`tsc rules`: the list of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsc.cli.options import FormatOption, TextOrJson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsc.diagnostics.model import Rule


def rules(format: FormatOption = TextOrJson.TEXT) -> None:
    """List the rules of the check: code, name, severity and what each says."""
    from tsc.cli.output import show, to_json
    from tsc.rules.registry import RULES

    if format is TextOrJson.JSON:
        from dataclasses import asdict

        show(to_json({"version": 1, "rules": [asdict(rule) for rule in RULES]}))
        return
    show(listing(RULES))


def listing(rules: Sequence[Rule]) -> str:
    """Rules as lines of columns."""
    name = max(len(rule.name) for rule in rules)
    severity = max(len(rule.severity) for rule in rules)
    return "".join(f"{r.code}  {r.name:{name}}  {r.severity:{severity}}  {r.summary}\n" for r in rules)
