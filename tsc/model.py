"""What every Pydantic model of the language is made of: the base class, names, references and expressions."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, PlainValidator, Strict, WithJsonSchema
from pydantic_core import PydanticCustomError

from tsc.expr import Expr, ExprError, parse

# One line of LANGUAGE section 4, then the functions of the expression language.
RESERVED = frozenset(
    "replica part sms block grid cluster tile loop iter trips thread threads warp lane task true false "
    "cdiv align min max abs find".split()
)

# Keywords of C++20 that an identifier of ours would collide with in the generated source.
CPP_KEYWORDS = frozenset(
    "alignas alignof and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t compl "
    "concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default "
    "delete do double dynamic_cast enum explicit export extern float friend goto inline int long mutable "
    "namespace new noexcept not_eq nullptr operator or_eq private protected public register reinterpret_cast "
    "requires short signed sizeof static static_assert static_cast struct switch template this thread_local "
    "throw try typedef typeid typename union unsigned using virtual void volatile wchar_t xor xor_eq".split()
)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_REFERENCE = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*(?:\[(.*)\])?\s*((?:\.[A-Za-z_][A-Za-z0-9_]*)*)\s*\Z", re.S)


class Model(BaseModel):
    """A part of a spec: immutable, with no key that the language does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, arbitrary_types_allowed=True)


@dataclass(frozen=True, slots=True)
class Reference:
    """An operand as written: `name[index].buffer.T`.

    `index` chooses a copy of a `per:` resource, `buffer` one of a ring's buffers, `transposed` says that the
    last two dimensions are exchanged.
    """

    text: str
    name: str
    index: Expr | None = None
    buffer: str | None = None
    transposed: bool = False

    def __str__(self) -> str:
        return self.text


def _problem(kind: str, message: str, **context: Any) -> PydanticCustomError:
    # The message travels in the context, because Pydantic would format braces in a template.
    return PydanticCustomError("tsc_" + kind, "{message}", {"message": message, **context})  # type: ignore[arg-type]


def _scalar(value: object) -> int | bool | str:
    if isinstance(value, (bool, int, str)):
        return value
    shown = "a number with a fraction" if isinstance(value, float) else "a list or a mapping"
    if value is None:
        shown = "empty"
    raise _problem("expression", f"an expression stands here, and this is {shown}", help="write an integer expression")


def parse_expression(value: object) -> Expr:
    """Turn a scalar of the document into an expression."""
    if isinstance(value, Expr):
        return value
    scalar = _scalar(value)
    try:
        return parse(scalar)
    except ExprError as error:
        raise _problem(
            "expression", error.message, start=error.start, end=error.end, help=error.help or "", text=str(scalar)
        ) from None


def check_name(value: object) -> str:
    """Accept an identifier of the language: neither reserved nor a keyword of C++ or Python."""
    if not isinstance(value, str):
        raise _problem("name", f"a name stands here, and this is `{value}`", help="write a name such as `ring`")
    if not _NAME.match(value):
        raise _problem("name", f"`{value}` is no name", help="use letters, digits and `_`, beginning with a letter")
    if value in RESERVED:
        renamed = {"part": "partial"}.get(value, f"{value}_")
        raise _problem("name", f"`{value}` is reserved ({reserved_meaning(value)})", help=f"rename it, for instance to `{renamed}`")
    if value in CPP_KEYWORDS or keyword.iskeyword(value):
        language = "C++" if value in CPP_KEYWORDS else "Python"
        raise _problem("name", f"`{value}` is a keyword of {language}", help=f"rename it, for instance to `{value}_`")
    return value


def reserved_meaning(name: str) -> str:
    """Say in a few words what a reserved name stands for."""
    meanings = {
        "part": "the piece of a split loop", "replica": "the number of this copy of a task",
        "sms": "the number of multiprocessors", "block": "the CTA's index", "grid": "the grid's size",
        "cluster": "the rank in the cluster", "tile": "the tile's coordinates", "loop": "the domain loop's value",
        "iter": "the round of the innermost loop", "trips": "the rounds of the innermost loop",
        "thread": "the thread's index", "threads": "the task's threads", "warp": "the warp's index",
        "lane": "the lane's index", "task": "the task in a snippet", "true": "a constant", "false": "a constant",
    }  # fmt: skip
    return meanings.get(name, "a function")


def parse_reference(value: object) -> Reference:
    """Turn `name[expr].buffer.T` into its parts."""
    if isinstance(value, Reference):
        return value
    if not isinstance(value, str) or not (match := _REFERENCE.match(value)):
        shown = f"`{value}`" if isinstance(value, (str, int, bool, float)) else "a list or a mapping"
        raise _problem("reference", f"a name such as `ring` or `ring.a` stands here, and this is {shown}")
    name, index, dotted = match.groups()
    parts = dotted.split(".")[1:]
    transposed = bool(parts) and parts[-1] == "T"
    if transposed:
        parts = parts[:-1]
    if len(parts) > 1:
        raise _problem("reference", f"`{value}` has {len(parts)} parts after the name where one buffer can stand")
    return Reference(
        text=value.strip(),
        name=name,
        index=None if index is None else parse_expression(index),
        buffer=parts[0] if parts else None,
        transposed=transposed,
    )


def _plain(parser: Callable[[object], Any], schema: dict[str, Any]) -> tuple[PlainValidator, WithJsonSchema]:
    return PlainValidator(parser), WithJsonSchema(schema)


Expression = Annotated[Expr, *_plain(parse_expression, {"type": ["string", "integer", "boolean"]})]
"""An integer expression (LANGUAGE section 5), parsed when the model is made."""

Name = Annotated[str, *_plain(check_name, {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"})]
"""An identifier that a spec declares."""

Operand = Annotated[
    Reference,
    *_plain(parse_reference, {"type": "string", "pattern": r"^[A-Za-z_][A-Za-z0-9_]*(\[.*\])?(\.[A-Za-z_][A-Za-z0-9_]*)*$"}),
]
"""A reference to a declared resource, buffer, tensor or task."""

Integer = Annotated[int, Strict()]
Flag = Annotated[bool, Strict()]
Text = Annotated[str, Strict()]
