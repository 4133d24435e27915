"""Texts made to hurt: each ends in a finding or a document, soon."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.source.findings import faults
from tsc.source import parse

SIZE = 300_000
SECONDS = 20  # a text of this size takes well below one; anything quadratic takes minutes

BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n"
    for old, new in zip("abcdefghi", "bcdefghij", strict=True)
)
DEEP = "the most a spec may have | close the brackets, or take levels out"


@pytest.mark.parametrize(
    ("language", "text", "fault"),
    [
        (
            "yaml",
            "a: " + "[" * 100 + "]" * 100,
            f"1:67-1:68 values are nested deeper than 64 levels here, {DEEP}",
        ),
        ("yaml", "[" * SIZE, None),
        ("yaml", "- " * 100, f"1:129-1:130 values are nested deeper than 64 levels here, {DEEP}"),
        (
            "toml",
            "a = " + "[" * 100 + "]" * 100,
            f"1:69-1:70 values are nested deeper than 64 levels here, {DEEP}",
        ),
        ("toml", "a." * 100 + "b = 1", f"1:130-1:131 values are nested deeper than 64 levels here, {DEEP}"),
        (
            "yaml",
            BOMB,
            "6:8-6:10 the aliases up to here stand for more than 200,000 values, the most a spec may have"
            " | write fewer aliases of aliases",
        ),
        ("yaml", f"a: {2**63}", "1:4-1:23 the number `9223372036854775808` does not fit in 64 bits"),
        ("toml", f"a = -{2**63 + 1}", "1:5-1:25 the number `-9223372036854775809` does not fit in 64 bits"),
        ("toml", "a = 1e999", "1:5-1:10 the number `1e999` does not fit in 64 bits"),
        ("yaml", "a: 0x" + "f" * 90, None),
        ("yaml", "a: " + "9" * SIZE, None),
        ("toml", "a = " + "9" * SIZE, None),
        ("toml", "a = 0x" + "f" * SIZE, None),
        ("yaml", "a: 1." + "9" * SIZE, None),
        ("toml", "a = 1." + "9" * SIZE, None),
        ("yaml", "a:\n" + "- 1\n" * 210_000, None),
        ("toml", "a = [" + "1," * 210_000 + "]", None),
        ("yaml", "a: &a " + "x" * SIZE + "\nb: [" + "*a, " * 1000 + "]", None),
        ("yaml", "a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 100)), None),
        (
            "yaml",
            "a: " + "x" * 4 * 1024 * 1024,
            "1:1-1:1 the text is longer than 4,194,304 B, the most a spec may have",
        ),
        ("yaml", "a: '" + "é" * 3 * 1024 * 1024 + "'", None),
    ],
)
def test_too_large(language: str, text: str, fault: str | None) -> None:
    found = faults(text, language)
    assert found[-1].startswith("input-too-large ")
    assert len(found[-1]) < 250
    assert fault is None or found == [f"input-too-large {fault}"]
    assert parse(text, "spec", language).document is None


@pytest.mark.parametrize("depth", [64, 65])
def test_the_deepest_nest(depth: int) -> None:
    lists = depth - 1
    for language, sign in (("yaml", ": "), ("toml", " = ")):
        found = faults(f"a{sign}{'[' * lists}{']' * lists}", language)
        assert bool(found) == (depth > 64)


HURTFUL: dict[str, Callable[[int], str]] = {
    "quotes": lambda n: "'" * n,
    "open quote": lambda n: '"' + "a" * n,
    "tags": lambda n: "! " * (n // 2),
    "long tag": lambda n: "!<" + "%41" * (n // 3),
    "anchors": lambda n: "a: &a " * (n // 6),
    "bad aliases": lambda n: "".join(f"k{i}: &n{i} *x{i}\n" for i in range(n // 20)),
    "comments": lambda n: "a: 'b # c' #\n" * (n // 13),
    "line breaks": lambda n: "\r\n" * (n // 2),
    "breaks before a directive": lambda n: "\r\n" * (n // 2) + "a",
    "spaces before a colon": lambda n: "x: 1\na" + " " * n + ": b: c",
    "no colon": lambda n: "a\n" * (n // 2) + "b: 1",
    "dots": lambda n: "." * n,
    "dotted": lambda n: "a." * (n // 2),
    "equal signs": lambda n: "a " + "= " * (n // 2),
    "words": lambda n: "a = " + "x " * (n // 2),
    "unclosed lines": lambda n: "a = '''" + "'x" * (n // 2),
    "escapes": lambda n: 'a = """' + "\\n" * (n // 2) + '"""',
    "headers": lambda n: "".join(f"[a{i}.b.c]\n" for i in range(n // 12)),
    "duplicates": lambda n: "a: 1\n" * (n // 5),
    "documents": lambda n: "---\n" * (n // 4),
    "question marks": lambda n: "? " * (n // 2),
    "wide": lambda n: 'a = "' + "日" * (n // 3) + '"',
    "keys": lambda n: "".join(f'"k{i}" = 1\n' for i in range(n // 12)),
}


@pytest.mark.parametrize("name", HURTFUL)
def test_bounded_time(name: str) -> None:
    text = HURTFUL[name](SIZE)
    started = time.perf_counter()
    for language in ("yaml", "toml", None):
        reading = parse(text, "spec", language)
        assert reading.document or reading.findings
        assert len(reading.findings) <= 100
    assert time.perf_counter() - started < SECONDS
