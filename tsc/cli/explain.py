"""`tsc explain`: the documentation of a rule, or the rules of a family."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from tsc.cli.options import FormatOption, TextOrJson

if TYPE_CHECKING:
    from tsc.diagnostics.model import Rule

_FAMILY = re.compile(r"TSC\d{0,2}", re.IGNORECASE)


def explain(
    rules: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RULE...", help="Codes or names of rules; the first digits of codes list a family."
        ),
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="Explain every rule.")] = False,
    format: FormatOption = TextOrJson.TEXT,
) -> None:
    """Say what a rule does, why that is bad, and show an example of it and of what to write instead."""
    from tsc.cli.exits import fail
    from tsc.cli.output import show, to_json
    from tsc.cli.rules import listing
    from tsc.rules.registry import RULES, documentation

    if bool(rules) == all:
        fail("explain takes the code or name of a rule, or `--all`")
    chosen = [_chosen(given) for given in rules or ()] or [[rule] for rule in RULES]
    if format is TextOrJson.JSON:
        from dataclasses import asdict

        records = [asdict(r) | {"documentation": documentation(r)} for some in chosen for r in some]
        show(to_json({"version": 1, "rules": records}))
        return

    def one(rule: Rule) -> str:
        return f"{rule.code} {rule.name} ({rule.severity})\n\n{documentation(rule).strip()}\n"

    families = [bool(_FAMILY.fullmatch(given)) for given in rules or ()] or [False] * len(chosen)
    show(
        "\n\n".join(
            listing(some) if family else one(some[0]) for some, family in zip(chosen, families, strict=True)
        )
    )


def _chosen(given: str) -> list[Rule]:
    """The rule of a code or name, or those whose codes begin so; ends the command where there is none."""
    from difflib import get_close_matches

    from tsc.cli.exits import fail
    from tsc.rules.registry import RULES, by_name
    from tsc.spec.schedule import BARE_STEPS, NODES

    code = given.upper()
    if _FAMILY.fullmatch(given):
        found = [rule for rule in RULES if rule.code.startswith(code)]
        return found or fail(f"no code begins with `{code}`; `tsc rules` lists them")
    rule = by_name(code if code.startswith("TSC") else given)
    if rule is not None:
        return [rule]
    if given in NODES or given in BARE_STEPS:
        fail(f"no rule is called `{given}`, a verb; sections 10 and 11 of docs/language.md have it")
    near = get_close_matches(given, [r.name for r in RULES] + [r.code for r in RULES], 1)
    hint = f": did you mean `{near[0]}`?" if near else "; `tsc rules` lists them"
    fail(f"no rule is called `{given}`{hint}")
