"""Diagnostics as JSON: `{"version": 1, "findings": [...], "verdicts": [...], "summary": {...}}`.

Lines and columns count from one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from tsc.diagnostics.model import Diagnostic, Rule, Severity
from tsc.source.route import show_route
from tsc.source.span import Span


def render(
    diagnostics: Sequence[Diagnostic],
    sources: Mapping[str, str],
    rules: Sequence[Rule],
    verdicts: Sequence[Mapping[str, object]] = (),
) -> str:
    """Give all diagnostics, the verdicts on schedules as they are, and the count.

    `end_column` is the one after the last, in code points.
    """
    counts = {f"{severity}s": 0 for severity in (Severity.ERROR, Severity.WARNING)} | {"advice": 0}
    for diagnostic in diagnostics:
        severity = diagnostic.severity
        counts[severity if severity is Severity.ADVICE else f"{severity}s"] += 1
    document = {
        "version": 1,
        "findings": [_finding(diagnostic) for diagnostic in diagnostics],
        "verdicts": list(verdicts),
        "summary": counts | {"files": len(sources)},
    }
    return json.dumps(document, indent=2) + "\n"


def _finding(diagnostic: Diagnostic) -> dict[str, object]:
    return {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "file": diagnostic.file,
        **_range(diagnostic.span),
        "label": diagnostic.label,
        "related": [{**_range(label.span), "label": label.text} for label in diagnostic.related],
        "help": diagnostic.help,
        "route": list(diagnostic.route),
        "path": show_route(diagnostic.route),
    }


def _range(span: Span) -> dict[str, object]:
    return {
        "line": span.start.line,
        "column": span.start.column,
        "end_line": span.end.line,
        "end_column": span.end.column,
    }
