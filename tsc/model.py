"""What every Pydantic model of the language is made of: the base class, names, references and expressions."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Strict,
    Tag,
)
from pydantic_core import PydanticCustomError, core_schema

from tsc.expr import Expr, ExprError, parse

# One line of LANGUAGE section 4, then the functions of the expression language.
RESERVED = frozenset(
    """arch replica part sms block grid cluster tile loop iter trips thread threads warp lane task true false
    cdiv align min max abs find""".split()  # noqa: SIM905 - a list would hide the words
)

# Keywords of C++20 that an identifier of ours would collide with in the generated source.
CPP_KEYWORDS = frozenset(
    """
    alignas alignof and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t
    compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield
    decltype default delete do double dynamic_cast enum explicit export extern float friend goto inline
    int long mutable namespace new noexcept not_eq nullptr operator or_eq private protected public
    register reinterpret_cast requires short signed sizeof static static_assert static_cast struct
    switch template this thread_local throw try typedef typeid typename union unsigned using virtual
    void volatile wchar_t xor xor_eq
    """.split()  # noqa: SIM905 - a list would hide the words
)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_REFERENCE = re.compile(
    r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*(?:\[(.*)\])?\s*((?:\.[A-Za-z_][A-Za-z0-9_]*)*)\s*\Z", re.S
)


class Model(BaseModel):
    """A part of a spec: immutable, with no key that the language does not know."""

    # Validators are built once, for the whole document: a class at a time would cost each command its start.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, arbitrary_types_allowed=True)


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
    return PydanticCustomError("tsc_" + kind, "{message}", {"message": message, **context})


def _misfit(expected: str) -> PydanticCustomError:
    # Which key it is and what stands there is said where the document is at hand.
    return _problem("type", f"this takes {expected}", expected=expected)


def shorten(text: str) -> str:
    """Give a text as a message can quote it: on one line, its end left out where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "..."


def parse_expression(value: object) -> Expr:
    """Turn a scalar of the document into an expression."""
    if isinstance(value, Expr):
        return value
    if not isinstance(value, (bool, int, str)):
        raise _misfit("an integer expression")
    return _parse(value)


def _parse(source: str | int | bool, offset: int = 0) -> Expr:
    try:
        return parse(source)
    except ExprError as error:
        start, end = error.start + offset, error.end + offset
        raise _problem("expression", error.message, start=start, end=end, help=error.help or "") from None


def parse_number(value: object) -> int | float | bool:
    """Accept a number or a bool, and no text that looks like one."""
    if isinstance(value, (bool, int, float)):
        return value
    raise _misfit("a number, `true` or `false`")


def parse_real(value: object) -> float:
    """Accept a number that is neither a bool nor infinite."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < float("inf"):
        return value
    raise _misfit("a number")


def parse_constant(value: object) -> int | bool:
    """Accept the value of a constant: an integer or a bool of at most 64 bits."""
    if isinstance(value, (bool, int)):
        if not -(2**63) <= value < 2**63:
            raise _problem("range", f"{value:,} needs more than 64 bits", help="write a smaller number")
        return value
    if isinstance(value, str):
        raise _problem("constant", "a constant is a literal")
    raise _misfit("an integer, `true` or `false`")


def check_name(value: object) -> str:
    """Accept an identifier of the language: neither reserved nor a keyword of C++ or Python."""
    if not isinstance(value, str):
        raise _misfit("a name")
    if not _NAME.match(value):
        message = f"`{shorten(value)}` is no name" if value else "a name is empty"
        raise _problem("name", message, help="use letters, digits and `_`, beginning with a letter")
    if value in RESERVED:
        renamed = {"part": "partial"}.get(value, f"{value}_")
        message = f"`{value}` is reserved ({reserved_meaning(value)})"
        raise _problem("name", message, help=f"rename it, for instance to `{renamed}`")
    if value in CPP_KEYWORDS or keyword.iskeyword(value):
        language = "C++" if value in CPP_KEYWORDS else "Python"
        message = f"`{value}` is a keyword of {language}"
        raise _problem("name", message, help=f"rename it, for instance to `{value}_`")
    return value


_MEANINGS = {
    "arch": "the target's number",
    "part": "the piece of a split loop",
    "replica": "the number of this copy of a task",
    "sms": "the number of multiprocessors",
    "block": "the CTA's index",
    "grid": "the grid's size",
    "cluster": "the rank in the cluster",
    "tile": "the tile's coordinates",
    "loop": "the domain loop's value",
    "iter": "the round of the innermost loop",
    "trips": "the rounds of the innermost loop",
    "thread": "the thread's index",
    "threads": "the task's threads",
    "warp": "the warp's index",
    "lane": "the lane's index",
    "task": "the task in a snippet",
    "true": "a constant",
    "false": "a constant",
}


def reserved_meaning(name: str) -> str:
    """Say in a few words what a reserved name stands for."""
    return _MEANINGS.get(name, "a function")


def parse_reference(value: object) -> Reference:
    """Turn `name[expr].buffer.T` into its parts."""
    if isinstance(value, Reference):
        return value
    if not isinstance(value, str):
        raise _misfit("a name such as `ring`")
    if not value.strip():
        raise _problem("reference", "a name stands here, and this is empty")
    if not (match := _REFERENCE.match(value)):
        raise _problem("reference", f"`{shorten(value)}` is no name, `name[index]` or `name.buffer`")
    name, index, dotted = match.groups()
    parts = dotted.split(".")[1:]
    transposed = bool(parts) and parts[-1] == "T"
    if transposed:
        parts = parts[:-1]
    if len(parts) > 1:
        message = f"`{shorten(value)}` has {len(parts)} parts after the name, where one buffer can stand"
        raise _problem("reference", message)
    return Reference(
        text=value.strip(),
        name=name,
        index=None if index is None else _parse(index, match.start(2)),
        buffer=parts[0] if parts else None,
        transposed=transposed,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Parsed:
    """A field that `parse` makes from what the document has; `schema` is its JSON Schema."""

    parse: Callable[[object], Any]
    schema: dict[str, Any]

    # Pydantic's own PlainValidator also derives how to write the value back, which a spec never is; that
    # would take longer than all other fields together.
    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self.parse)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return dict(self.schema)


class _Whole:
    """Keeps `true` and `1.0`, which equal 1 in Python, from passing for a choice that is an integer."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_before_validator_function(self.check, handler(source))

    @staticmethod
    def check(value: object) -> object:
        if isinstance(value, (bool, float)):
            raise _problem("choice", "this is no integer")
        return value


WHOLE = _Whole()


def form_of(value: object) -> str:
    """Say which of the forms of a document a value has: `scalar`, `list` or `mapping`."""
    if isinstance(value, (list, tuple)):
        return "list"
    return "mapping" if isinstance(value, (dict, BaseModel)) else "scalar"


# Where two forms are allowed, the form of what is written decides which one is meant: a plain union would
# report what is wrong with it as either.
BY_FORM = Discriminator(form_of, custom_error_type="tsc_form", custom_error_message="neither form")
Scalar, ListOf, Mapping = Tag("scalar"), Tag("list"), Tag("mapping")

Expression = Annotated[Expr, _Parsed(parse_expression, {"type": ["string", "integer", "boolean"]})]
"""An integer expression (LANGUAGE section 5), parsed when the model is made."""

NAME_SCHEMA: dict[str, Any] = {
    "type": "string",
    "pattern": "^[A-Za-z_][A-Za-z0-9_]*$",
    "not": {"enum": sorted(RESERVED | CPP_KEYWORDS | set(keyword.kwlist))},
}
Name = Annotated[str, _Parsed(check_name, NAME_SCHEMA)]
"""An identifier that a spec declares."""

_OPERAND_PATTERN = r"^\s*[A-Za-z_][A-Za-z0-9_]*\s*(\[.*\])?\s*(\.[A-Za-z_][A-Za-z0-9_]*){0,2}\s*$"
Operand = Annotated[Reference, _Parsed(parse_reference, {"type": "string", "pattern": _OPERAND_PATTERN})]
"""A reference to a declared resource, buffer, tensor or task."""

Constant = Annotated[int | bool, _Parsed(parse_constant, {"type": ["integer", "boolean"]})]
"""The value of a constant."""

Number = Annotated[int | float | bool, _Parsed(parse_number, {"type": ["number", "boolean"]})]
"""A number, whole or not, or a bool."""

Real = Annotated[float, _Parsed(parse_real, {"type": "number"})]
"""A number, whole or not."""

Integer = Annotated[int, Strict()]
Flag = Annotated[bool, Strict()]
Text = Annotated[str, Strict()]
