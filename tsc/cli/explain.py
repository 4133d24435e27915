"""`tsc explain`: the documentation of a rule."""

from __future__ import annotations

from typing import Annotated

import typer

from tsc.cli.options import FormatOption, TextOrJson


def explain(
    rules: Annotated[
        list[str] | None, typer.Argument(metavar="RULE...", help="Codes or names of rules.")
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="Explain every rule.")] = False,
    format: FormatOption = TextOrJson.TEXT,
) -> None:
    """Say what a rule does, why that is bad, and show an example of it and of what to write instead."""
    from tsc.cli.exits import fail
    from tsc.cli.output import show, to_json
    from tsc.rules.registry import RULES, by_name, documentation

    if bool(rules) == all:
        fail("explain takes the code or name of a rule, or `--all`")
    chosen = list(RULES) if all else []
    for given in rules or ():
        rule = by_name(given.upper() if given[:3].upper() == "TSC" else given)
        if rule is None:
            from difflib import get_close_matches

            near = get_close_matches(given, [r.name for r in RULES] + [r.code for r in RULES], 1)
            hint = f": did you mean `{near[0]}`?" if near else "; `tsc rules` lists them"
            fail(f"no rule is called `{given}`{hint}")
        chosen.append(rule)
    if format is TextOrJson.JSON:
        from dataclasses import asdict

        records = [asdict(rule) | {"documentation": documentation(rule)} for rule in chosen]
        show(to_json({"version": 1, "rules": records}))
        return
    show("\n\n".join(f"{r.code} {r.name} ({r.severity})\n\n{documentation(r).strip()}\n" for r in chosen))
