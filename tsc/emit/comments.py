"""A step as it stands in the spec, for the comment above what it became."""

from __future__ import annotations

from typing import Any

from tsc.expr import Expr
from tsc.model import Reference
from tsc.program.tree import Step
from tsc.source.document import Document

LONGEST = 96
OF_TASK = frozenset(("threads", "replica"))  # what is the same in all copies of a step


def step_text(step: Step, document: Document | None) -> str:
    """Return the step on one line, with the line of the spec it begins on where that is known, and which copy
    of a `repeat` it is.
    """
    text, copy = (
        _words(step),
        "".join(f"; {name} = {_value(value)}" for name, value in step.env.items() if name not in OF_TASK),
    )
    if len(text) + len(copy) > LONGEST:
        text = text[: LONGEST - 4 - len(copy)].rstrip() + " ..."
    text += copy
    if document is None:
        return text
    from tsc.diagnostics.model import Place

    return f"{document.span_of(Place(step.route)).start.line}: {text}"


def _words(step: Step) -> str:
    if isinstance(step.model, str):
        return step.model
    parts = []
    for field, info in type(step.model).model_fields.items():
        if field not in step.model.model_fields_set:
            continue
        parts.append(f"{info.alias or field}: {_value(getattr(step.model, field))}")
    return ", ".join(parts)


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case Expr() | Reference():
            return " ".join(value.text.split())
        case tuple() | list():
            return f"[{', '.join(map(_value, value))}]"
        case dict():
            return "{" + ", ".join(f"{key}: {_value(item)}" for key, item in value.items()) + "}"
        case _:
            return str(value)
