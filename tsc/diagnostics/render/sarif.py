"""Diagnostics as SARIF 2.1.0, as code scanning takes them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from urllib.parse import quote

from tsc.diagnostics.model import Diagnostic, Rule, Severity
from tsc.rules.registry import by_name, documentation
from tsc.source.route import Route, show_route
from tsc.source.span import Span
from tsc.version import VERSION

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "note"}


def render(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str], rules: Sequence[Rule]) -> str:
    """Give one run with every rule and every diagnostic.

    A fingerprint is made from the code, the file and the route, so that it survives lines moving.
    """
    indices = {rule.code: index for index, rule in enumerate(rules)}
    seen: Counter[str] = Counter()
    results = []
    for diagnostic in diagnostics:
        mark = _fingerprint(diagnostic)
        seen[mark] += 1
        results.append(_result(diagnostic, indices, f"{mark}:{seen[mark]}"))
    driver = {"name": "tsc", "semanticVersion": VERSION, "rules": [_rule(rule) for rule in rules]}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: Rule) -> dict[str, object]:
    text = documentation(rule) if by_name(rule.name) == rule else rule.summary
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(diagnostic: Diagnostic, indices: Mapping[str, int], fingerprint: str) -> dict[str, object]:
    message = diagnostic.message + (f"\nhelp: {diagnostic.help}" if diagnostic.help else "")
    location = _location(diagnostic.file, diagnostic.span)
    if diagnostic.route:
        location["logicalLocations"] = [{"fullyQualifiedName": show_route(diagnostic.route)}]
    result: dict[str, object] = {
        "ruleId": diagnostic.code,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": message},
        "locations": [location],
        "partialFingerprints": {"route/v1": fingerprint},
    }
    if diagnostic.code in indices:
        result["ruleIndex"] = indices[diagnostic.code]
    if diagnostic.related:
        result["relatedLocations"] = [
            {"id": number, "message": {"text": label.text}, **_location(diagnostic.file, label.span)}
            for number, label in enumerate(diagnostic.related, 1)
        ]
    return result


def _location(file: str, span: Span) -> dict[str, object]:
    region = {
        "startLine": span.start.line,
        "startColumn": span.start.column,
        "endLine": span.end.line,
        "endColumn": span.end.column,
    }
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(file)}, "region": region}}


def _uri(file: str) -> str:
    path = PurePath(file)
    if path.is_absolute():
        return path.as_uri()
    return quote(path.as_posix().encode("utf-8", "surrogateescape"))


def _fingerprint(diagnostic: Diagnostic) -> str:
    named: tuple[str, str, Route] = (diagnostic.code, PurePath(diagnostic.file).as_posix(), diagnostic.route)
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()[:32]
