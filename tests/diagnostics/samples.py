"""Diagnostics and rules to render."""

from __future__ import annotations

from tsc.diagnostics.model import Diagnostic, Label, Rule, Severity
from tsc.source.lines import Lines
from tsc.source.route import Route

RULES = (
    Rule("TSC002", "duplicate-key", Severity.ERROR, "A key is set twice"),
    Rule("TSC007", "unused-ignore", Severity.WARNING, "A comment ignores nothing"),
    Rule("TSC101", "unknown-name", Severity.ERROR, "A name is not declared"),
    Rule("TSC150", "unused-token", Severity.WARNING, "A token is never used"),
    Rule("TSC701", "small-box", Severity.ADVICE, "A box is small"),
)


def at(text: str, piece: str, number: int = 0) -> tuple[int, int]:
    """The range of the `number`-th `piece` of a text."""
    start = -1
    for _ in range(number + 1):
        start = text.index(piece, start + 1)
    return start, start + len(piece)


def diagnostic(
    text: str,
    where: tuple[int, int],
    message: str = "something is wrong",
    *,
    rule: Rule = RULES[2],
    file: str = "specs/a.tsc.yaml",
    label: str = "",
    related: tuple[tuple[tuple[int, int], str], ...] = (),
    help: str = "",
    route: Route = (),
) -> Diagnostic:
    """A diagnostic at a range of a text."""
    lines = Lines(text)
    labels = tuple(Label(lines.span(*place), said) for place, said in related)
    span = lines.span(*where)
    return Diagnostic(rule.code, rule.name, rule.severity, message, file, span, label, labels, help, route)
