"""Properties of reading: YAML and TOML agree, places are right, and nothing ends in a traceback."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.source.documents import DOCUMENTS, Writer, write_toml, write_yaml
from tsc.diagnostics.model import Place
from tsc.source import Document, parse

SEEDS = st.integers(0, 10_000)


def read(writer: Writer, language: str) -> Document:
    reading = parse(writer.text, "spec", language)
    assert reading.findings == ()
    assert reading.document is not None
    return reading.document


def kinds(value: object) -> object:
    if isinstance(value, dict):
        return {key: kinds(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [kinds(inner) for inner in value]
    return type(value)


@given(DOCUMENTS, SEEDS)
@settings(max_examples=200)
def test_yaml_and_toml_of_one_document_give_equal_data(data: dict[str, object], seed: int) -> None:
    for document in (read(write_yaml(data, seed), "yaml"), read(write_toml(data, seed), "toml")):
        assert document.data == data
        assert kinds(document.data) == kinds(data)  # `1 == 1.0 == True` in Python


@given(DOCUMENTS, st.sampled_from(["yaml", "toml"]), SEEDS)
@settings(max_examples=200)
def test_spans_are_the_text_of_each_value_and_key(data: dict[str, object], language: str, seed: int) -> None:
    writer = write_yaml(data, seed) if language == "yaml" else write_toml(data, seed)
    document = read(writer, language)
    for route, (start, end) in writer.values.items():
        span = document.span_of(Place(route))
        assert (span.start.offset, span.end.offset) == (start, end), route
        before = writer.text[:start]
        assert span.start.line == before.count("\n") + 1
        assert span.start.column == start - (before.rfind("\n") + 1) + 1
    for route, (start, end) in writer.keys.items():
        span = document.span_of(Place(route, "key"))
        assert (span.start.offset, span.end.offset) == (start, end), route
