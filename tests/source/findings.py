"""Findings in the short form that the tests of the readers compare."""

from __future__ import annotations

from tsc.diagnostics.model import Finding
from tsc.source import parse


def places(findings: tuple[Finding, ...]) -> list[str]:
    """Each finding as `rule 1:5-1:8 message | help`."""
    found = []
    for finding in findings:
        span = finding.place.span
        assert span is not None
        start, end = span.start, span.end
        where = f"{start.line}:{start.column}-{end.line}:{end.column}"
        help = f" | {finding.help}" if finding.help else ""
        found.append(f"{finding.rule} {where} {finding.message}{help}")
    return found


def faults(text: str, language: str) -> list[str]:
    """The findings of a text, shortly."""
    return places(parse(text, "spec", language).findings)


def data(text: str, language: str = "yaml") -> object:
    """The data of a text that has no fault."""
    reading = parse(text, "spec", language)
    assert reading.findings == ()
    assert reading.document is not None
    return reading.document.data
