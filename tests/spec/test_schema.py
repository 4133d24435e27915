"""The published JSON Schema: what is right passes, what is wrong does not, and an editor can read it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from tests.spec.base import BASE, document, edited
from tests.spec.test_messages import GROUPS
from tsc.source import read
from tsc.spec import schedule
from tsc.spec.schema import ID, json_schema

ROOT = Path(__file__).resolve().parents[2]
SPECS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "specs").rglob("*.tsc.*"))
EVERY_KEY = Path(__file__).with_name("every_key.yaml")
SCHEMA = json.loads((ROOT / "schema" / "tsc.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft7Validator(SCHEMA)


def faults(data: object) -> list[str]:
    return [f"{list(error.absolute_path)}: {error.message[:200]}" for error in VALIDATOR.iter_errors(data)]


def test_the_published_file_is_made_from_the_models() -> None:
    assert json_schema() == SCHEMA, "write it anew: tsc schema -o schema/tsc.schema.json"


def test_it_is_a_schema_of_draft_7() -> None:
    Draft7Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert SCHEMA["$id"] == ID == "urn:tsc-cuda:spec:1"


def parts(schema: object) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from parts(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from parts(value)


def test_it_has_no_words_that_editors_do_not_know() -> None:
    used = {key for part in parts(SCHEMA) for key in part}
    unknown = {
        "prefixItems",
        "unevaluatedProperties",
        "unevaluatedItems",
        "discriminator",
        "dependentRequired",
    }
    assert used & unknown == set()
    assert "null" not in {part.get("type") for part in parts(SCHEMA) if isinstance(part.get("type"), str)}


def test_each_verb_is_an_object_that_requires_it() -> None:
    (node,) = [name for name in SCHEMA["$defs"] if name == "Node"]
    names = [entry["$ref"].rpartition("/")[2] for entry in SCHEMA["$defs"][node]["oneOf"] if "$ref" in entry]
    verbs = {}
    for name in names:
        step = SCHEMA["$defs"][name]
        assert step["type"] == "object" and step["additionalProperties"] is False
        verbs[name] = step["required"][0]
    assert sorted(verbs.values()) == sorted(schedule.NODES)
    words = [entry["const"] for entry in SCHEMA["$defs"][node]["oneOf"] if "const" in entry]
    assert tuple(words) == schedule.BARE_STEPS


def test_each_kind_is_an_object_that_requires_it() -> None:
    resources = SCHEMA["properties"]["resources"]["additionalProperties"]["oneOf"]
    kinds = [SCHEMA["$defs"][entry["$ref"].rpartition("/")[2]] for entry in resources]
    assert all("kind" in kind["required"] and "const" in kind["properties"]["kind"] for kind in kinds)
    assert len({kind["properties"]["kind"]["const"] for kind in kinds}) == len(kinds) == 9


def test_everything_is_described() -> None:
    objects = {"spec": SCHEMA} | {
        name: part for name, part in SCHEMA["$defs"].items() if "properties" in part
    }
    silent = [
        f"{name}.{key}"
        for name, part in objects.items()
        for key, value in part["properties"].items()
        if "description" not in value and key != "kind"
    ]
    assert silent == []
    assert [name for name, part in objects.items() if "description" not in part] == []


@pytest.mark.parametrize("spec", SPECS)
def test_a_shipped_spec_passes(spec: str) -> None:
    reading = read(str(ROOT / spec))
    assert reading.document is not None
    assert faults(reading.document.data) == []


def test_every_key_passes() -> None:
    assert faults(document(BASE).data) == []
    assert faults(document(EVERY_KEY.read_text(encoding="utf-8")).data) == []


# A schema does not read expressions and references, and JSON takes `1.0` for an integer.
BEYOND = {"expressions", "cuts", "references"}
ALIKE = ("tsc: 1.0", "swizzle: 64.0", ".inf")
REFUSED = [
    edits
    for group, cases in GROUPS.items()
    if group not in BEYOND
    for edits in cases
    if not any(text in new for _, new in edits for text in ALIKE)
]


@pytest.mark.parametrize("edits", REFUSED, ids=str)
def test_what_the_models_refuse_does_not_pass(edits: tuple[tuple[str, str], ...]) -> None:
    assert faults(document(edited(*edits)).data) != []
