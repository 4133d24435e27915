"""Whatever the text: a document or findings with places in it, and never a traceback."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.source.test_document import TOML, YAML
from tsc.source import parse
from tsc.source.lines import Lines
from tsc.source.yaml import compose
from tsc.source.yaml_events import HAS_C

TOKENS = st.sampled_from(
    [
        *(
            "[",
            "]",
            "{",
            "}",
            ":",
            ": ",
            "- ",
            "\n",
            "\t",
            " ",
            '"',
            "'",
            "#",
            " #",
            "|",
            ">",
            "&a ",
            "*a ",
            "!",
            "%",
        ),
        *(
            "!!str ",
            "@",
            "`",
            ",",
            "? ",
            "<<: ",
            "---\n",
            "...\n",
            "\\",
            "\\x4",
            "\\U00110000",
            "\\ud800",
            "é",
            "😀",
        ),
        *(
            "\u2028",
            "\ufeff",
            "\r",
            "\r\n",
            "=",
            '"""',
            "'''",
            "[[",
            "0",
            "1e999",
            "9" * 30,
            "-",
            "~",
            "|2\n",
            ">-\n",
        ),
        *("\x00", "\udc80", "[" * 80, "a." * 80, "1979-05-27", "{a: "),
    ]
)
EDITS = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 6), st.one_of(st.just(""), TOKENS)), min_size=1, max_size=6
)


def check(text: str, language: str | None) -> None:
    reading = parse(text, "spec", language)
    assert reading.document is not None or reading.findings
    for finding in reading.findings:
        span = finding.place.span
        assert span is not None
        assert 0 <= span.start.offset <= span.end.offset <= len(reading.text)
        assert Lines(reading.text).position(span.start.offset) == span.start
        for sentence in (finding.message, finding.help):
            assert "\n" not in sentence
            assert not sentence.endswith(".")
            assert len(sentence) < 300


@given(st.text(max_size=200), st.sampled_from(["yaml", "toml", None]))
@settings(max_examples=200)
def test_any_text(text: str, language: str | None) -> None:
    check(text, language)


@given(st.lists(TOKENS, max_size=30), st.sampled_from(["yaml", "toml", None]))
@settings(max_examples=300)
def test_any_tokens(tokens: list[str], language: str | None) -> None:
    check("".join(tokens), language)


@given(st.sampled_from([YAML, TOML]), EDITS, st.sampled_from(["yaml", "toml", None]))
@settings(max_examples=300)
def test_mutated_specs(text: str, edits: list[tuple[float, int, str]], language: str | None) -> None:
    for place, deleted, inserted in edits:
        at = round(place * len(text))
        text = text[:at] + inserted + text[at + deleted :]
    check(text, language)


@pytest.mark.skipif(not HAS_C, reason="PyYAML has no C parser here")
@given(EDITS)
@settings(max_examples=100)
def test_both_yaml_parsers_give_the_same_document(edits: list[tuple[float, int, str]]) -> None:
    text = YAML
    for place, deleted, inserted in edits:
        at = round(place * len(text))
        text = text[:at] + inserted.replace("\t", "") + text[at + deleted :]
    text = text.removeprefix("\ufeff")  # the reader takes the mark away before any parser sees the text
    if parse(text, "spec", "yaml").document is None:
        return
    lines = Lines(text)
    fast, pure = compose(lines, pure=False), compose(lines, pure=True)
    if not pure.findings or fast.findings:  # the pure one refuses a `?` that a comma or blank follows
        assert (fast.root, fast.comments, fast.findings) == (pure.root, pure.comments, pure.findings)
        assert repr(fast.data) == repr(pure.data)
