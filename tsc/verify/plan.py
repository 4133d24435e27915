"""A plan: everything but the cubin that a run on a GPU needs, as JSON that is carried beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from tsc.notation import Node, NotationError, parse

PLAN_VERSION: Final = 1
SUFFIX: Final = ".plan.json"
"""A plan lies beside its cubin, under the same name."""

Value: TypeAlias = int | float | bool
Case: TypeAlias = Mapping[str, Value]


class PlanError(Exception):
    """A text that is no plan, or a plan that asks for what there is not; the text is the sentence."""


@dataclass(frozen=True, slots=True)
class Input:
    """How an input is made: `lengths` (their running sum), `range` (two bounds) or `zeros`."""

    kind: str
    values: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Function:
    """A reference in Python: its text travels along."""

    file: str
    function: str
    text: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a kernel is run with and compared with.

    `reference` maps outputs to array notation; `python` stands in its place. Tolerances of None follow from
    the types.
    """

    kernel: str
    spec: str
    reference: Mapping[str, str] = field(default_factory=dict)
    python: Function | None = None
    cases: tuple[Case, ...] = ()
    inputs: Mapping[str, Input] = field(default_factory=dict)
    rtol: float | None = None
    atol: float | None = None

    def trees(self) -> dict[str, Node]:
        """The references, read. Raises PlanError."""
        try:
            return {name: parse(text) for name, text in self.reference.items()}
        except NotationError as error:
            raise PlanError(f"the plan's reference cannot be read: {error.message}") from None


def to_json(plan: Plan) -> str:
    """The plan as indented JSON with a line end."""
    table: dict[str, object] = {"plan": PLAN_VERSION, "kernel": plan.kernel, "spec": plan.spec}
    if plan.python is not None:
        given = plan.python
        table["python"] = {"file": given.file, "function": given.function, "text": given.text}
    else:
        table["reference"] = dict(plan.reference)
    table["cases"] = [dict(case) for case in plan.cases]
    table["inputs"] = {
        name: {one.kind: True if one.kind == "zeros" else list(one.values)}
        for name, one in plan.inputs.items()
    }
    table["tolerance"] = {"rtol": plan.rtol, "atol": plan.atol}
    return json.dumps(table, indent=2) + "\n"


def from_json(text: str, name: str = "the plan") -> Plan:
    """Read a plan. Raises PlanError with a sentence that names it."""
    try:
        table = json.loads(text)
    except ValueError:
        raise PlanError(f"`{name}` is no JSON") from None
    if not isinstance(table, dict) or "plan" not in table:
        raise PlanError(f"`{name}` is no plan of `tsc verify --prepare`")
    if table["plan"] != PLAN_VERSION:
        raise PlanError(
            f"`{name}` is a plan of version {table['plan']}, and this tsc reads version {PLAN_VERSION}"
        )
    try:
        return _read(table)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise PlanError(f"`{name}` is a damaged plan: {type(error).__name__} at {error}") from None


def _read(table: dict[str, Any]) -> Plan:
    given = table.get("python")
    return Plan(
        kernel=str(table["kernel"]),
        spec=str(table["spec"]),
        reference={str(name): str(text) for name, text in table.get("reference", {}).items()},
        python=None if given is None else Function(given["file"], given["function"], given["text"]),
        cases=tuple({str(name): _value(value) for name, value in case.items()} for case in table["cases"]),
        inputs={str(name): _input(one) for name, one in table.get("inputs", {}).items()},
        rtol=_number(table.get("tolerance", {}).get("rtol")),
        atol=_number(table.get("tolerance", {}).get("atol")),
    )


def _value(value: object) -> Value:
    if not isinstance(value, (bool, int, float)):
        raise TypeError(f"`{value}`")
    return value


def _number(value: object) -> float | None:
    return None if value is None else float(_value(value))


def _input(table: dict[str, Any]) -> Input:
    ((kind, values),) = table.items()
    if kind not in ("lengths", "range", "zeros"):
        raise ValueError(f"`{kind}`")
    return Input(kind, () if kind == "zeros" else tuple(_value(value) for value in values))
