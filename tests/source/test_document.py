"""Places in documents: exact values and keys, parts of scalars, lines of blocks, and what is not there."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.source.documents import DOCUMENTS, write_toml, write_yaml
from tsc.diagnostics.model import Place
from tsc.source import Document, parse
from tsc.source.route import Route
from tsc.source.span import Position, Span

YAML = """\
tsc: 1
resources:   # storage
  ring: {kind: smem, stages: "4 * N"}
  other: &o
    kind: turn
    of: [a, 'b''c']
  again: *o
  none:
work:
  copy:
    cuda: |
      int i = 0;

        i += 1;   # no comment
      done(i);

    note: >-
      folded text
      goes on

      here
    plain: a + b
      + c
tasks:
- warps: 4
  schedule: []
"""
TOML = """\
tsc = 1
[resources.ring]
kind = "smem"
stages = "4 * \\u004E"
[[cases]]
m = 1
[[cases]]
m = 2
[work.copy]
cuda = '''
int i = 0;

  i += 1;
'''
head = \"\"\"int j = 0;
j += 1; \\
   done(j);\"\"\"
"""


def document(text: str, language: str) -> Document:
    reading = parse(text, "spec", language)
    assert reading.document is not None
    return reading.document


def at(found: Document, place: Place) -> str:
    span = found.span_of(place)
    return found.text[span.start.offset : span.end.offset]


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (Place(("tsc",)), "1"),
        (Place(("tsc",), "key"), "tsc"),
        (Place(("resources", "ring")), '{kind: smem, stages: "4 * N"}'),
        (Place(("resources", "ring", "stages")), '"4 * N"'),
        (Place(("resources", "ring", "stages"), within=(4, 5)), "N"),
        (Place(("resources", "other")), "kind: turn\n    of: [a, 'b''c']"),
        (Place(("resources", "other", "of", 1)), "'b''c'"),
        (Place(("resources", "other", "of", 1), within=(1, 3)), "''c"),
        (Place(("resources", "other", "of", 1), "key"), "'b''c'"),
        (Place(("resources", "again")), "*o"),
        (Place(("resources", "again", "kind")), "turn"),
        (Place(("resources", "none")), ""),
        (Place(("tasks",)), "- warps: 4\n  schedule: []"),
        (Place(("tasks", 0, "schedule")), "[]"),
        (Place(("work", "copy", "cuda"), within=(4, 5)), "i"),
        (Place(("work", "copy", "cuda"), within=(14, 20)), "i += 1"),
        (Place(("work", "copy", "note"), within=(12, 16)), "goes"),
        (Place(("work", "copy", "note"), within=(20, 24)), "here"),
        (Place(("work", "copy", "plain"), within=(8, 9)), "c"),
        (Place(("tsc",), within=(0, 1)), "1"),
        # What is missing is shown at the name of what should have it.
        (Place(("resources", "ring", "dtype")), "ring"),
        (Place(("resources", "ring", "shape", 0, "x"), "key"), "ring"),
        (Place(("tasks", 0, "name")), "warps"),
        (Place(("tasks", 3)), "tasks"),
        (Place(("kernel",)), "tsc"),
        (Place(("tsc", "x")), "tsc"),
    ],
)
def test_places_of_yaml(place: Place, text: str) -> None:
    assert at(document(YAML, "yaml"), place) == text


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (Place(("resources",), "key"), "resources"),
        (Place(("resources", "ring"), "key"), "ring"),
        (Place(("resources", "ring", "kind"), within=(1, 3)), "me"),
        (Place(("resources", "ring", "stages"), within=(4, 5)), "\\"),
        (Place(("cases", 1, "m")), "2"),
        (Place(("cases", 1)), "[[cases]]\nm = 2"),
        (Place(("cases", 1, "n")), "m"),
        (Place(("work", "copy", "cuda"), within=(14, 20)), "i += 1"),
        (Place(("work", "copy", "head"), within=(19, 23)), "done"),
        (Place(("kernel",)), "tsc"),
    ],
)
def test_places_of_toml(place: Place, text: str) -> None:
    assert at(document(TOML, "toml"), place) == text


@pytest.mark.parametrize("text", [YAML, YAML.replace("\n", "\r\n")])
def test_lines_of_yaml(text: str) -> None:
    found = document(text, "yaml")

    def line(route: Route, n: int) -> str:
        return found.lines.line(found.line_of(route, n)).strip()

    cuda = [line(("work", "copy", "cuda"), n) for n in (1, 2, 3, 4)]
    assert cuda == ["int i = 0;", "", "i += 1;   # no comment", "done(i);"]
    assert line(("work", "copy", "note"), 1) == "folded text"
    assert line(("work", "copy", "note"), 2) == "here"
    assert line(("tsc",), 1) == line(("tsc", "x"), 7) == "tsc: 1"


def test_lines_of_toml() -> None:
    found = document(TOML, "toml")
    assert [found.line_of(("work", "copy", "cuda"), n) for n in (1, 2, 3, 9)] == [11, 12, 13, 14]
    assert [found.line_of(("work", "copy", "head"), n) for n in (1, 2)] == [15, 16]


def test_a_span_that_is_there_wins() -> None:
    span = Span(Position(1, 1, 0), Position(1, 2, 1))
    assert document(YAML, "yaml").span_of(Place(("tasks",), span=span)) is span


def test_columns_count_code_points() -> None:
    found = document("𝒳é: {日本: [😀, x]}\n", "yaml")
    span = found.span_of(Place(("𝒳é", "日本", 1)))
    assert (span.start.column, span.end.column) == (14, 15)
    found = document("'𝒳é' = { '日本' = ['😀', 'x'] }\n", "toml")
    span = found.span_of(Place(("𝒳é", "日本", 1)))
    assert (span.start.column, span.end.column) == (23, 26)


def test_comments() -> None:
    text = (
        '# one\na: "# no" # two\nb: |  # three\n  # no\n\n# four\nc: x#no\nd: [a, # five\n  b]#no\n'.replace(
            "]#no", "]"
        )
    )
    found = document(text, "yaml")
    comments = [text[start:end] for start, end in found.comments]
    assert comments == ["# one", "# two", "# three", "# four", "# five"]
    text = "# one\na = '# no' # two\nb = '''\n# no\n'''# three\n'#' = \"\\\"#\" #four\n"
    found = document(text, "toml")
    assert [text[start:end] for start, end in found.comments] == ["# one", "# two", "# three", "#four"]


def scalars(value: object, route: Route = ()) -> list[tuple[Route, str]]:
    if isinstance(value, str):
        return [(route, value)]
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for step, inner in steps for found in scalars(inner, (*route, step))]


@given(DOCUMENTS, st.sampled_from(["yaml", "toml"]), st.integers(0, 10_000))
@settings(max_examples=100)
def test_each_character_of_a_string_has_its_place(data: dict[str, object], language: str, seed: int) -> None:
    writer = write_yaml(data, seed) if language == "yaml" else write_toml(data, seed)
    found = document(writer.text, language)
    for route, value in scalars(found.data):
        whole = found.span_of(Place(route))
        last = whole.start.offset
        for index, character in enumerate(value):
            span = found.span_of(Place(route, within=(index, index + 1)))
            start = span.start.offset
            assert last <= start <= whole.end.offset, (route, index)
            assert writer.text[start] in (character, "\\") or character == "\n", (route, index)
            last = start
