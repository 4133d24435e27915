"""`tsc rules`: the list of rules."""

from __future__ import annotations

from tsc.cli.options import FormatOption, TextOrJson


def rules(format: FormatOption = TextOrJson.TEXT) -> None:
    """List the rules of the check: code, name, severity and what each says."""
    from tsc.cli.output import show, to_json
    from tsc.rules.registry import RULES

    if format is TextOrJson.JSON:
        from dataclasses import asdict

        show(to_json({"version": 1, "rules": [asdict(rule) for rule in RULES]}))
        return
    name = max(len(rule.name) for rule in RULES)
    severity = max(len(rule.severity) for rule in RULES)
    show("".join(f"{r.code}  {r.name:{name}}  {r.severity:{severity}}  {r.summary}\n" for r in RULES))
