"""The models read as a grammar: every place of a document is found, and every key is explained."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from tests.spec.base import document, load
from tsc.model import Model
from tsc.ops.registry import OPERATIONS
from tsc.rules.registry import by_name, documentation
from tsc.rules.text import not_one_verb
from tsc.spec import grammar
from tsc.spec.document import Spec
from tsc.spec.resources import Over, Queue, Smem
from tsc.spec.schedule import BARE_STEPS, NODES, FirstIter, Release, When
from tsc.tiles.linear import LinearOrder

EVERY_KEY = Path(__file__).with_name("every_key.yaml").read_text(encoding="utf-8")


def models(expected: Any, seen: set[Any]) -> Iterator[type[Model]]:
    """Every model that a type leads to, each once."""
    expected = grammar.strip(expected)
    if isinstance(expected, type) and issubclass(expected, Model):
        if expected not in seen:
            seen.add(expected)
            yield expected
            for inner in grammar.fields(expected).values():
                yield from models(inner, seen)
        return
    for inner in grammar.tagged(expected).values() or get_args(expected):
        yield from models(inner, seen)


MODELS = list(models(Spec, set()))


def used(expected: Any, value: object) -> Iterator[tuple[type[Model], str]]:
    """Every key of a model that a value has."""
    expected = grammar.settle(expected, value)
    for part in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        owner, inner = grammar.enter(expected, part)
        if owner is not None:
            yield owner, part
        yield from used(inner, grammar.step_into(value, part))


def test_the_grammar_reaches_every_operation() -> None:
    assert {operation.model for operation in OPERATIONS} <= set(MODELS)
    assert set(NODES.values()) <= set(MODELS)


def test_the_spec_of_every_key_has_every_key() -> None:
    spec, said = load(EVERY_KEY)
    assert spec is not None and said == []
    there = set(used(Spec, document(EVERY_KEY).data))
    assert [f"{m.__name__}.{key}" for m in MODELS for key in grammar.fields(m) if (m, key) not in there] == []


def test_every_key_is_explained() -> None:
    lacking = {
        model.__name__: keys
        for model in MODELS
        if (keys := set(grammar.fields(model)) - set(grammar.descriptions(model)) - {"kind"})
    }
    assert lacking == {}


def test_the_explanation_of_verbs_has_them_all() -> None:
    text = documentation(not_one_verb.RULE)
    words = set(text.replace("`", " ").split())
    assert {*NODES, *BARE_STEPS} <= words
    assert by_name("TSC017") is not_one_verb.RULE


STEPS = ("tasks", "t", "schedule")
PLACES = [
    # `release` is both the variant and a key: the walk knows which one is meant.
    ((*STEPS, 0, "release", "keep"), "", (*STEPS, 0, "keep"), Release, 0),
    ((*STEPS, 0, "release", "release"), "", (*STEPS, 0, "release"), Release, 0),
    ((*STEPS, 1, "when", "else", 0, "pdl_wait"), "", (*STEPS, 1, "else", 0), None, 0),
    (("resources", "a", "smem", "kind"), "", ("resources", "a", "kind"), Smem, 0),
    (("resources", "[key]", "[key]"), "tsc_name", ("resources", "[key]"), None, 1),
    (("resources", "a", "smem", "[key]"), "extra_forbidden", ("resources", "a", "[key]"), Smem, 0),
    (("tsc",), "missing", (), Spec, 0),
]


@pytest.mark.parametrize(("loc", "kind", "route", "owner", "key"), PLACES)
def test_places_are_found(
    loc: tuple[str | int, ...], kind: str, route: tuple[str | int, ...], owner: object, key: int
) -> None:
    data = {
        "resources": {"a": {"kind": "smem", "[key]": 1}, "[key]": {}},
        "tasks": {"t": {"schedule": [{"release": "a", "keep": 1}, {"when": 1, "then": [], "else": ["x"]}]}},
    }
    spot = grammar.follow(loc, data, kind)
    assert (spot.route, spot.owner, spot.key) == (route, owner, bool(key))


def test_a_union_is_settled_by_what_is_written() -> None:
    node = get_args(grammar.strip(grammar.fields(FirstIter)["first_iter"]))[0]
    assert grammar.settle(node, {"when": 1, "then": []}) is When
    assert grammar.settle(node, {"then": []}) is Any
    resource = get_args(grammar.strip(grammar.fields(Spec)["resources"]))[1]
    assert grammar.settle(resource, {"kind": "smem"}) is Smem
    assert grammar.settle(resource, {"kind": "smme"}) is Any
    over = grammar.fields(Smem)["over"]
    assert grammar.settle(over, {"of": "a"}) is Over
    assert grammar.settle(grammar.fields(Queue)["order"], {"kind": "linear"}) is LinearOrder
