"""The JSON Schema of the language, made from the models, for editors and other tools.

Written for the dialect that YAML language servers read, draft-07, though definitions stand under `$defs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from tsc.expr import Expr
from tsc.model import NAME_SCHEMA, Model
from tsc.spec import document, grammar

VERSION = 1
ID = f"urn:tsc-cuda:spec:{VERSION}"


_BARE = {
    "pdl_wait": "Wait for the kernel before this one in the stream.",
    "pdl_launch": "Let the next kernel in the stream start.",
    "task_sync": "Meet all threads of the task.",
}


class _Generator(GenerateJsonSchema):
    """Leaves out what an editor has no use for, and writes mappings of names so that it completes values."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        made: JsonSchemaValue = {"type": "object"}
        if "values_schema" in schema:
            made["additionalProperties"] = self.generate_inner(schema["values_schema"])
        if "keys_schema" in schema and self.generate_inner(schema["keys_schema"]) == NAME_SCHEMA:
            made["propertyNames"] = dict(NAME_SCHEMA)
        return made

    def encode_default(self, dft: Any) -> Any:
        # An expression stands as what a spec would have there; of a default that is a mapping or a list an
        # editor makes nothing.
        if isinstance(dft, Expr):
            return {"true": True, "false": False}.get(dft.text, dft.text)
        return dft if isinstance(dft, (str, int)) else None


def json_schema() -> dict[str, Any]:
    """Give the schema of a whole spec."""
    made = document.Spec.model_json_schema(schema_generator=_Generator)
    definitions: dict[str, Any] = made.pop("$defs")
    for model in _models(Model):
        entry = made if model is document.Spec else definitions.get(model.__name__, {})
        for key, text in grammar.descriptions(model).items():
            if key in entry.get("properties", {}):
                entry["properties"][key]["description"] = text
    for entry in definitions["Node"]["oneOf"]:
        if entry.get("const") in _BARE:
            entry["description"] = _BARE[entry["const"]]
    tidied = {name: _tidy(definition) for name, definition in definitions.items()}
    tidied["Name"] = NAME_SCHEMA | {"description": "A name: no word of the language, of C++ or of Python."}
    head: dict[str, Any] = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": ID,
        "title": "tsc spec",
    }
    return {**head, **_tidy(made), "$defs": {name: tidied[name] for name in sorted(tidied)}}


def _models(base: type[Model]) -> Iterator[type[Model]]:
    for model in base.__subclasses__():
        yield model
        yield from _models(model)


def _tidy(part: Any, *, names: bool = False) -> Any:
    """Take away titles and empty defaults, and write names as references; `names`: its keys are a model's."""
    if isinstance(part, list):
        return [_tidy(entry) for entry in part]
    if not isinstance(part, dict):
        return part
    if not names:
        if NAME_SCHEMA.items() <= part.items():
            part = {"$ref": "#/$defs/Name"} | {k: v for k, v in part.items() if k not in NAME_SCHEMA}
        if part.get("items") == {"$ref": "#/$defs/Node"}:
            part = {"minItems": 1} | part  # the rule `empty-block`, where an editor can say it
        drop = {"title", "discriminator"} | ({"default"} if part.get("default") is None else set())
        part = {key: value for key, value in part.items() if key not in drop}
    return {key: _tidy(value, names=not names and key == "properties") for key, value in part.items()}
