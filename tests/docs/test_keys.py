"""docs/language.md has every key of the models and no other, with its choices and whether it is needed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args, get_origin

import pytest

from tests.docs.pages import CODE, Table, tables
from tsc.model import Model
from tsc.ops.base import StepModel
from tsc.ops.registry import BY_VERB
from tsc.spec import grammar
from tsc.spec.document import Spec
from tsc.spec.schedule import BARE_STEPS, NODES

PAGE = "language.md"
KEYS = {one.marker.removeprefix("keys: "): one for one in tables(PAGE) if one.marker.startswith("keys: ")}
STEPS = [row for one in tables(PAGE) if one.marker == "steps" for row in one.rows]
LATER = "†"
# A table of many variants has no column of defaults.
ALIKE = {marker: one for marker, one in KEYS.items() if marker.count(",") < 2}


def inside(expected: Any) -> Iterator[Any]:
    """The types that a type is made of, models not entered."""
    expected = grammar.strip(expected)
    yield expected
    for part in get_args(expected):
        yield from inside(part)


def parts(model: type[Model], found: dict[str, type[Model]]) -> dict[str, type[Model]]:
    """The models below a model, by their names; steps left out."""
    for expected in grammar.fields(model).values():
        for part in inside(expected):
            below = isinstance(part, type) and issubclass(part, Model) and not issubclass(part, StepModel)
            if below and part.__name__ not in found:
                found[part.__name__] = part
                parts(part, found)
    return found


MODELS = parts(Spec, {"Spec": Spec})


def choices(expected: Any) -> list[str]:
    """The values of the literals in a type, as a spec writes them."""
    return [
        str(value)
        for part in inside(expected)
        for value in grammar.choices(part)
        if not isinstance(value, bool) and value not in BARE_STEPS
    ]


def key_of(row: list[str]) -> str:
    (key,) = CODE.findall(row[0])
    return str(key)


def test_every_model_has_a_table() -> None:
    documented = [name for marker in KEYS for name in marker.split(", ")]
    assert sorted(documented) == sorted(MODELS)


@pytest.mark.parametrize("marker", KEYS)
def test_a_table_has_the_keys_of_its_models(marker: str) -> None:
    models = [MODELS[name] for name in marker.split(", ")]
    wanted = {key for model in models for key in grammar.fields(model)}
    keys = [key_of(row) for row in KEYS[marker].rows]
    assert sorted(keys) == sorted(wanted)


@pytest.mark.parametrize("marker", ALIKE)
def test_a_table_says_what_is_required(marker: str) -> None:
    models = [MODELS[name] for name in marker.split(", ")]
    column = KEYS[marker].column("default")
    said = {key_of(row) for row in KEYS[marker].rows if column is not None and row[column] == "required"}
    assert said == {key for model in models for key in grammar.required(model)}


@pytest.mark.parametrize("marker", KEYS)
def test_a_table_has_the_choices_and_the_default(marker: str) -> None:
    assert list(faults(KEYS[marker], [MODELS[name] for name in marker.split(", ")])) == []


def faults(table: Table, models: list[type[Model]]) -> Iterator[str]:
    column = table.column("default")
    for row in table.rows:
        key, there = key_of(row), CODE.findall(" ".join(row[1:]))
        for model in models:
            if key not in grammar.fields(model):
                continue
            missing = [value for value in choices(grammar.fields(model)[key]) if value not in there]
            if missing and key != "kind" and "as a param's" not in row:
                yield f"`{key}` of {model.__name__} lacks {missing}"
            default = default_of(model, key)
            if column is not None and default is not None and row[column] != default:
                yield f"`{key}` of {model.__name__} says {row[column]}, and it is {default}"


def default_of(model: type[Model], key: str) -> str | None:
    """The default of a key as a table writes it, None where it is no plain value."""
    (field,) = (field for name, field in model.model_fields.items() if (field.alias or name) == key)
    if field.default_factory is dict:
        return "`{}`"
    match field.default:
        case ():
            return "`[]`"
        case bool() as value:
            return f"`{str(value).lower()}`"
        case int() | str() as value:
            return f"`{value}`"
    return None


# ---- steps ----------------------------------------------------------------------------------------


def options_of(row: list[str]) -> dict[str, str]:
    """The options of a row by name, with what stands after the colon."""
    parts = [code.partition(":") for code in CODE.findall(row[1])]
    return {name.strip(): rest.strip() for name, _, rest in parts}


def verb_of(row: list[str]) -> str:
    return key_of(row).partition(":")[0]


def test_every_step_has_a_row() -> None:
    assert sorted(map(verb_of, STEPS)) == sorted((*NODES, *BARE_STEPS))


@pytest.mark.parametrize("row", STEPS, ids=verb_of)
def test_a_row_has_the_options(row: list[str]) -> None:
    verb, options = verb_of(row), options_of(row)
    if verb in BARE_STEPS:
        assert options == {} and ":" not in row[0]
        return
    fields = grammar.fields(NODES[verb])
    assert sorted(options) == sorted(set(fields) - {verb})
    for name, rest in options.items():
        known = choices(fields[name])
        if known:
            assert sorted(re.split(r",\s*", rest)) == sorted(known), name
            (field,) = (f for n, f in NODES[verb].model_fields.items() if (f.alias or n) == name)
            assert field.is_required() or rest.split(",")[0] == str(field.default), name


@pytest.mark.parametrize("row", [row for row in STEPS if verb_of(row) in BY_VERB], ids=verb_of)
def test_a_dagger_marks_operations_that_are_not_generated(row: list[str]) -> None:
    assert (LATER in row[0]) != BY_VERB[verb_of(row)].generated


def test_the_types_of_a_table_are_seen() -> None:
    assert "bf16" in choices(grammar.fields(MODELS["Param"])["dtype"])
    assert get_origin(grammar.strip(grammar.fields(MODELS["Debug"])["trace"])) is tuple
    assert choices(grammar.fields(MODELS["Debug"])["trace"]) == ["acquire", "wait", "work"]
