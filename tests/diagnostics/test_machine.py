"""The formats that programs read: concise lines, JSON, SARIF and GitHub's annotations."""

from __future__ import annotations

import json
from typing import Any

import jsonschema

from tests.diagnostics.samples import RULES, at, diagnostic
from tsc.diagnostics.render import concise, github, sarif
from tsc.diagnostics.render import json as json_format

TEXT = "tasks:\n  load: 日本 x\n  store: [1,\n    2]\n"
WIDE = diagnostic(
    TEXT,
    at(TEXT, "x"),
    "`x` is not declared",
    label="here",
    related=((at(TEXT, "tasks"), "in these"),),
    help="write `y`",
    route=("tasks", "load", 0),
)
TALL = diagnostic(TEXT, at(TEXT, "[1,\n    2]"), "it is 50% too large, or not", rule=RULES[3])


def test_concise() -> None:
    assert concise.render([WIDE, TALL], {}, RULES) == (
        "specs/a.tsc.yaml:2:12: TSC101[unknown-name] `x` is not declared\n"
        "specs/a.tsc.yaml:3:10: TSC150[unused-token] it is 50% too large, or not\n"
    )
    assert concise.render([], {}, RULES) == ""


def test_json() -> None:
    document = json.loads(json_format.render([WIDE, TALL], {"specs/a.tsc.yaml": TEXT, "b": ""}, RULES))
    assert document["version"] == 1
    assert document["summary"] == {"errors": 1, "warnings": 1, "advice": 0, "files": 2}
    assert document["findings"][0] == {
        "code": "TSC101",
        "name": "unknown-name",
        "severity": "error",
        "message": "`x` is not declared",
        "file": "specs/a.tsc.yaml",
        "line": 2,
        "column": 12,
        "end_line": 2,
        "end_column": 13,
        "label": "here",
        "related": [{"line": 1, "column": 1, "end_line": 1, "end_column": 6, "label": "in these"}],
        "help": "write `y`",
        "route": ["tasks", "load", 0],
        "path": "tasks.load[0]",
    }
    second = document["findings"][1]
    assert [second[key] for key in ("line", "column", "end_line", "end_column")] == [3, 10, 4, 7]


def test_json_is_ascii_whatever_the_message() -> None:
    text = json_format.render([diagnostic(TEXT, (0, 1), "é \ud800 \x1b")], {}, RULES)
    assert text.isascii()
    assert json.loads(text)["findings"][0]["message"] == "é \ud800 \x1b"


def test_github() -> None:
    path = diagnostic(TEXT, (0, 0), "a: b, c\r\n%", file="a,b:c%.yaml", rule=RULES[4])
    assert github.render([path, TALL, WIDE], {}, RULES).splitlines() == [
        "::error file=specs/a.tsc.yaml,line=2,endLine=2,col=12,endColumn=13,title=TSC101[unknown-name]"
        "::`x` is not declared%0Ahelp: write `y`",
        "::warning file=specs/a.tsc.yaml,line=3,endLine=4,title=TSC150[unused-token]"
        "::it is 50%25 too large, or not",
        "::notice file=a%2Cb%3Ac%25.yaml,line=1,endLine=1,col=1,endColumn=2,title=TSC701[small-box]"
        r"::a: b, c\r\n%25",
    ]


def test_github_says_what_it_hides() -> None:
    lines = github.render([TALL] * 11 + [WIDE], {}, RULES).splitlines()
    assert lines[0].startswith("::error ")
    assert [line.startswith("::") for line in lines] == [True] * 10 + [False] * 3
    assert lines[10] == "2 more findings without an annotation, as GitHub shows 10 a step:"
    assert lines[11] == concise.line(TALL)
    assert github.render([], {}, RULES) == ""


ENDS = ["startLine", "startColumn", "endLine", "endColumn"]
REGION = {
    "type": "object",
    "properties": {
        name: {"type": "integer", "minimum": 1}
        for name in ("startLine", "startColumn", "endLine", "endColumn")
    },
    "required": ["startLine", "startColumn", "endLine", "endColumn"],
    "additionalProperties": False,
}
MESSAGE = {"type": "object", "properties": {"text": {"type": "string", "minLength": 1}}, "required": ["text"]}
LOCATION = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "message": MESSAGE,
        "logicalLocations": {"type": "array", "items": {"required": ["fullyQualifiedName"]}},
        "physicalLocation": {
            "type": "object",
            "properties": {
                "region": REGION,
                "artifactLocation": {
                    "type": "object",
                    "properties": {"uri": {"type": "string", "pattern": "^[^ #]+$"}},
                },
            },
            "required": ["artifactLocation", "region"],
        },
    },
    "required": ["physicalLocation"],
    "additionalProperties": False,
}
SARIF = {
    "type": "object",
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "maxItems": 1,
            "items": {
                "type": "object",
                "required": ["tool", "results", "columnKind"],
                "properties": {
                    "columnKind": {"const": "unicodeCodePoints"},
                    "results": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["ruleId", "message", "locations", "level", "partialFingerprints"],
                            "properties": {
                                "level": {"enum": ["error", "warning", "note", "none"]},
                                "message": MESSAGE,
                                "locations": {"type": "array", "minItems": 1, "items": LOCATION},
                                "relatedLocations": {"type": "array", "items": LOCATION},
                            },
                        },
                    },
                },
            },
        },
    },
    "required": ["$schema", "version", "runs"],
}


def run(*diagnostics: Any) -> dict[str, Any]:
    document = json.loads(sarif.render(diagnostics, {}, RULES))
    jsonschema.validate(document, SARIF)
    found: dict[str, Any] = document["runs"][0]
    return found


def test_sarif() -> None:
    found = run(WIDE, TALL)
    rules = found["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.code for rule in RULES]
    assert all(rule["help"]["text"] for rule in rules)
    first = found["results"][0]
    assert (first["ruleId"], first["level"], rules[first["ruleIndex"]]["name"]) == (
        "TSC101",
        "error",
        "unknown-name",
    )
    assert first["message"]["text"] == "`x` is not declared\nhelp: write `y`"
    location = first["locations"][0]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "specs/a.tsc.yaml"
    assert location["physicalLocation"]["region"]["startColumn"] == 12
    assert location["logicalLocations"] == [{"fullyQualifiedName": "tasks.load[0]"}]
    (related,) = first["relatedLocations"]
    assert (related["id"], related["message"]["text"]) == (1, "in these")
    assert found["results"][1]["level"] == "warning"


def test_sarif_explains_the_rules_of_the_registry() -> None:
    from tsc.rules.registry import RULES as registered
    from tsc.rules.registry import documentation

    document = json.loads(sarif.render([], {}, registered))
    helps = {rule["id"]: rule["help"]["text"] for rule in document["runs"][0]["tool"]["driver"]["rules"]}
    assert helps == {rule.code: documentation(rule) for rule in registered}


def test_a_fingerprint_survives_lines_moving_and_nothing_else() -> None:
    def marks(*diagnostics: Any) -> list[str]:
        return [result["partialFingerprints"]["route/v1"] for result in run(*diagnostics)["results"]]

    route = ("tasks", "load")
    moved = "\n\n" + TEXT
    (mark,) = marks(diagnostic(TEXT, (0, 1), route=route))
    assert marks(diagnostic(moved, at(moved, "x"), "other words", route=route)) == [mark]
    others = [
        diagnostic(TEXT, (0, 1), route=("tasks", "store")),
        diagnostic(TEXT, (0, 1), route=route, rule=RULES[3]),
        diagnostic(TEXT, (0, 1), route=route, file="b.yaml"),
    ]
    assert len({mark, *marks(*others)}) == 4
    assert len(set(marks(*[diagnostic(TEXT, (0, 1), route=route)] * 3))) == 3


def test_sarif_paths_are_addresses() -> None:
    found = run(
        diagnostic(TEXT, (0, 1), file="a b/ü#%.yaml"),
        diagnostic(TEXT, (0, 1), file="/x/a b.yaml"),
        diagnostic(TEXT, (0, 1), file="<stdin>"),
    )
    places = [result["locations"][0]["physicalLocation"] for result in found["results"]]
    assert [place["artifactLocation"]["uri"] for place in places] == [
        "a%20b/%C3%BC%23%25.yaml",
        "file:///x/a%20b.yaml",
        "%3Cstdin%3E",
    ]
