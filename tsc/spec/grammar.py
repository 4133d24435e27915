"""The models read as a grammar: what may stand at a place, and which keys a mapping there has."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import Tag
from typing_extensions import TypeAliasType

from tsc.model import Model, form_of
from tsc.ops.base import StepModel
from tsc.source.route import Route
from tsc.spec import arguments, document, resources, tasks

NOTHING = object()

_NOUNS: dict[type[Model], str] = {
    document.Spec: "a spec",
    document.VerifyInput: "an input",
    arguments.Param: "a param",
    arguments.Workspace: "a workspace tensor",
    arguments.Dim: "a dim",
    resources.BufferModel: "a buffer",
    tasks.Work: "a work",
    tasks.Task: "a task",
}


@dataclass(frozen=True, slots=True)
class Spot:
    """A place that Pydantic names, found again in the document.

    `route` goes as deep as the document does. `owner` is the model that the last named key belongs to,
    `expected` the type at the place, `key` says that the key is meant and not its value.
    """

    route: Route
    value: object
    owner: type[Model] | None
    expected: Any
    key: bool = False


def follow(loc: tuple[str | int, ...], data: object, kind: str = "") -> Spot:
    """Find the place of an error of type `kind`; parts of `loc` that only name a variant are passed over."""
    expected: Any = document.Spec
    owner: type[Model] | None = None
    route: list[str | int] = []
    value, of_names = data, False
    for i, part in enumerate(loc):
        if part == "[key]" and of_names and i == len(loc) - 1 and kind != "extra_forbidden":
            return Spot(tuple(route), value, owner, str, key=True)
        expected = strip(expected)
        variants = tagged(expected)
        if part in variants:
            expected, of_names = variants[str(part)], False
            continue
        of_names = get_origin(expected) is dict
        owner, expected = enter(expected, part)
        inner = step_into(value, part)
        if inner is NOTHING:
            break
        value = inner
        route.append(part)
    return Spot(tuple(route), value, owner, strip(expected))


def enter(expected: Any, part: str | int) -> tuple[type[Model] | None, Any]:
    """Give the model whose key a part of a stripped type is, if it is one, and the type of the part."""
    if isinstance(expected, type) and issubclass(expected, Model):
        return expected, fields(expected).get(str(part), Any)
    inner = get_args(expected)
    if get_origin(expected) is dict:
        return None, inner[1]
    return None, inner[0] if get_origin(expected) is tuple else Any


def settle(expected: Any, value: object) -> Any:
    """Strip a type; of a union take the variant that a value chooses, `Any` if it chooses none."""
    expected = strip(expected)
    variants = tagged(expected)
    if not variants:
        return expected
    mapping = value if isinstance(value, dict) else {}
    named = [key for key in mapping if key in variants] or [mapping.get("kind"), form_of(value)]
    return strip(next((variants[tag] for tag in named if isinstance(tag, str) and tag in variants), Any))


def step_into(value: object, part: str | int) -> object:
    """Give what stands in `value` under a key or an index, `NOTHING` if nothing does."""
    if isinstance(value, dict):
        return value.get(part, NOTHING)
    if isinstance(value, list) and isinstance(part, int) and 0 <= part < len(value):
        return value[part]
    return NOTHING


def strip(expected: Any) -> Any:
    """Take annotations, aliases and `None` off a type."""
    while True:
        if isinstance(expected, TypeAliasType):
            expected = expected.__value__
        elif get_origin(expected) is Annotated:
            expected = get_args(expected)[0]
        elif get_origin(expected) in (Union, UnionType) and NoneType in get_args(expected):
            rest = tuple(member for member in get_args(expected) if member is not NoneType)
            expected = Union[rest]  # noqa: UP007 - made of a tuple
        else:
            return expected


def tagged(expected: Any) -> dict[str, Any]:
    """Give the variants of a union by their tags, nothing for another type."""
    if get_origin(expected) not in (Union, UnionType):
        return {}
    return {
        mark.tag: member
        for member in get_args(expected)
        if get_origin(member) is Annotated
        for mark in get_args(member)[1:]
        if isinstance(mark, Tag)
    }


def choices(expected: Any) -> tuple[str | int | bool, ...]:
    """Give the values of a literal type, nothing for another one."""
    return get_args(expected) if get_origin(expected) is Literal else ()


@cache
def fields(model: type[Model]) -> dict[str, Any]:
    """Give the keys of a model as a spec writes them, each with its type."""
    hints = get_type_hints(model, include_extras=True)
    return {field.alias or name: hints[name] for name, field in model.model_fields.items()}


def required(model: type[Model]) -> tuple[str, ...]:
    """Give the keys that a model cannot do without."""
    return tuple(field.alias or name for name, field in model.model_fields.items() if field.is_required())


def noun(model: type[Model], key: str) -> str:
    """Name what a model describes; `key` leads to it."""
    if issubclass(model, StepModel):
        return f"`{model.verb}`"
    kind = choices(strip(fields(model).get("kind")))
    if kind:
        return f"a `{kind[0]}` {'resource' if model.__name__ in _RESOURCES else 'order'}"
    return _NOUNS.get(model) or f"`{key}`"


_RESOURCES = frozenset(strip(member).__name__ for member in tagged(strip(resources.Resource)).values())


@cache
def descriptions(model: type[Model]) -> dict[str, str]:
    """Give what the source says below each field of a model, by key.

    Read from the source when asked, because to do so for all models would cost every command its start.
    """
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, Model) and base is not Model:
            found.update(_attribute_docstrings(base))
    return {
        model.model_fields[name].alias or name: text
        for name, text in found.items()
        if name in model.model_fields
    }


def _attribute_docstrings(model: type[Model]) -> Iterator[tuple[str, str]]:
    body = _classes(model.__module__).get(model.__name__, [])
    for statement, after in pairwise(body):
        match statement, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str() as text)):
                yield name, " ".join(text.split())


@cache
def _classes(module: str) -> dict[str, list[ast.stmt]]:
    source = sys.modules[module].__file__
    if source is None or not Path(source).is_file():
        return {}
    tree = ast.parse(Path(source).read_text(encoding="utf-8"))
    return {node.name: node.body for node in tree.body if isinstance(node, ast.ClassDef)}
