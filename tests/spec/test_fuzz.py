"""No document, no edit of one and no option ends in an exception, and what is said stands in the document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.spec.base import BASE, document
from tsc.diagnostics.model import Finding
from tsc.rules.registry import by_name
from tsc.source import Document, parse
from tsc.spec.document import Spec
from tsc.spec.load import to_spec
from tsc.spec.overrides import Overrides, UsageError, parse_overrides
from tsc.spec.schedule import BARE_STEPS, NODES

ROOT = Path(__file__).resolve().parents[2]
TEXTS = [
    BASE,
    Path(__file__).with_name("every_key.yaml").read_text(encoding="utf-8"),
    *(path.read_text(encoding="utf-8") for path in sorted((ROOT / "specs").rglob("*.tsc.yaml"))),
]
DATA = [document(text).data for text in TEXTS]

WORDS = sorted(
    {
        *NODES,
        *BARE_STEPS,
        *Spec.model_fields,
        "kind",
        "smem",
        "queue",
        "body",
        "at",
        "to",
        "from",
        "as",
        "[key]",
    }
)
KEYS = st.sampled_from(WORDS) | st.text(max_size=5)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from([*WORDS, "cdiv(a", "b)", "a.b.c.d", "x[1", "part", "", " ", "ab[i].a.T", "1 +"])
    | st.text(max_size=8)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def held(read: Document, overrides: Overrides | None = None) -> tuple[Finding, ...]:
    """Load a document and hold what is said of it to the promises of every finding."""
    spec, findings = to_spec(read, overrides)
    # What is wrong with `tune` alone, however much it is, leaves the kernel what it is.
    about_tuning = ("misfit-try", "too-many-problems")
    assert (spec is None) == any(finding.rule not in about_tuning for finding in findings)
    for finding in findings:
        assert by_name(finding.rule) is not None
        assert finding.message and not finding.message.endswith(".") and "\n" not in finding.message
        assert len(finding.message) < 600
        for place in (finding.place, *finding.related):
            span = read.span_of(place)
            assert span.start.offset <= span.end.offset <= len(read.text)
    return findings


def with_data(data: object, text: str = BASE) -> Document:
    """A document whose data is not that of its text: as wrong as a place can be."""
    read = document(text)
    object.__setattr__(read, "data", data)
    return read


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(VALUES)
def test_any_data(data: object) -> None:
    held(with_data(data))


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(
        st.sampled_from(sorted(field.alias or name for name, field in Spec.model_fields.items())), VALUES
    )
)
def test_any_value_of_a_key(data: dict[str, Any]) -> None:
    held(with_data({"tsc": 1, "kernel": "k", "target": "sm_90a"} | data))


def paths(value: object, above: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The routes of all values."""
    found = [above]
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for part, inner in parts:
        found += paths(inner, (*above, part))
    return found


def changed(value: Any, route: tuple[str | int, ...], edit: Any) -> Any:
    """A copy of `value` with what stands at a route edited."""
    if not route:
        return edit(value)
    if isinstance(value, dict):
        return {
            key: changed(inner, route[1:], edit) if key == route[0] else inner for key, inner in value.items()
        }
    return [changed(inner, route[1:], edit) if i == route[0] else inner for i, inner in enumerate(value)]


@st.composite
def mutants(draw: st.DrawFn) -> tuple[str, object]:
    """A spec with up to three values replaced, keys renamed or added, entries taken out."""
    which = draw(st.integers(0, len(TEXTS) - 1))
    data: Any = DATA[which]
    for _ in range(draw(st.integers(1, 3))):
        route = draw(st.sampled_from(paths(data)))
        edit = draw(st.sampled_from(["replace", "rename", "add", "remove"]))
        value, key = draw(VALUES), draw(KEYS)

        def apply(old: Any, edit: str = edit, value: object = value, key: str = key) -> Any:
            if edit == "rename" and isinstance(old, dict) and old:
                first = next(iter(old))
                return {(key if name == first else name): inner for name, inner in old.items()}
            if edit == "add" and isinstance(old, (dict, list)):
                return old | {key: value} if isinstance(old, dict) else [*old, value]
            if edit == "remove" and isinstance(old, (dict, list)) and old:
                return dict(list(old.items())[1:]) if isinstance(old, dict) else old[1:]
            return value

        data = changed(data, route, apply)
    return TEXTS[which], data


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(mutants())
def test_any_edit_of_a_spec(mutant: tuple[str, object]) -> None:
    text, data = mutant
    held(with_data(data, text))


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_edit_of_a_text(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(TEXTS))
    start = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 12))
    new = data.draw(st.text("()[]{}:,-\"'&*#\n tab01x.", max_size=6))
    reading = parse(text[:start] + new + text[start + length :], "spec.tsc.yaml", "yaml")
    if reading.document is not None:
        held(reading.document)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.sampled_from(["ROWS", "n", "x", "m_tiles", "k"]), max_size=2),
    st.sampled_from(paths(DATA[0])[1:]),
    KEYS,
    st.integers(-1, 9),
    SCALARS.map(str),
)
def test_any_option(names: list[str], route: tuple[str | int, ...], key: str, index: int, value: str) -> None:
    shown = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in route)[1:]
    options = [f"{shown}={value}", f"{shown}.{key}={value}", f"{shown}[{index}]={value}"]
    for option in options:
        try:
            overrides = parse_overrides([f"{name}={index}" for name in names], [option])
        except UsageError as error:
            assert str(error) and "\n" not in str(error)
            continue
        held(document(BASE), overrides)


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_the_specs_themselves_are_without_a_mistake(text: str) -> None:
    assert held(document(text)) == ()
