"""The text that people read, to the character."""

from __future__ import annotations

import unicodedata

import pytest

from tests.diagnostics.samples import RULES, at, diagnostic
from tsc.diagnostics.model import Diagnostic
from tsc.diagnostics.render import concise
from tsc.diagnostics.render.excerpt import WIDTH
from tsc.diagnostics.render.text import render

FILE = "specs/a.tsc.yaml"


def rendered(text: str, *diagnostics: Diagnostic) -> list[str]:
    return render(diagnostics, {FILE: text}, RULES).splitlines()


def test_a_whole_diagnostic() -> None:
    text = "tasks:\n  load:\n    schedule:\n      - acquire: rong\n      - commit: ring\n"
    found = diagnostic(
        text,
        at(text, "rong"),
        "`rong` is not declared",
        label="no such resource",
        related=((at(text, "load"), "in this task"), (at(text, "ring"), "written right here")),
        help="write `ring`",
        route=("tasks", "load", "schedule", 0, "acquire"),
    )
    assert rendered(text, found) == [
        "error TSC101[unknown-name]: `rong` is not declared",
        " --> specs/a.tsc.yaml:4:18",
        "  |",
        "2 |   load:",
        "  |   ---- in this task",
        "3 |     schedule:",
        "4 |       - acquire: rong",
        "  |                  ^^^^ no such resource",
        "5 |       - commit: ring",
        "  |                 ---- written right here",
        "  |",
        "  = help: write `ring`",
        "",
        "1 error in 1 file",
    ]


def test_labels_of_one_line_hang_below_it() -> None:
    text = "a: [one, two, three]\n"
    found = diagnostic(
        text,
        at(text, "two"),
        label="this",
        related=((at(text, "three"), "last"), (at(text, "one"), "first"), (at(text, "two"), "twice")),
    )
    assert rendered(text, found)[2:8] == [
        "  |",
        "1 | a: [one, two, three]",
        "  |     ---  ^^^  ----- last",
        "  |     |    |",
        "  |     |    this",
        "  |     |    twice",
    ]
    assert rendered(text, found)[8] == "  |     first"


def test_lines_far_apart_have_a_gap_between() -> None:
    text = "".join(f"key{n}: {n}\n" for n in range(1, 13))
    found = diagnostic(text, at(text, "key12"), related=((at(text, "key3"), "here"),))
    assert rendered(text, found)[1:8] == [
        "  --> specs/a.tsc.yaml:12:1",
        "   |",
        " 3 | key3: 3",
        "   | ---- here",
        "...",
        "12 | key12: 12",
        "   | ^^^^^",
    ]


def width(text: str) -> int:
    wide = sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
    return wide - sum(unicodedata.category(character) == "Mn" for character in text)


@pytest.mark.parametrize(
    ("line", "piece"),
    [
        ("a: 日本語 x", "x"),
        ("a: 日本語 x", "本"),
        ("a: e\u0301e\u0301 x", "x"),
        ("a:\t\tx # tabs", "x"),
        ("\ta\tb: x", "b"),
        ("a: \u200bx", "x"),
        ("a: 😀 x", "x"),
        ("a: \x1b x", "x"),
    ],
)
def test_carets_stand_under_what_they_mean(line: str, piece: str) -> None:
    shown, carets = rendered(line, diagnostic(line, at(line, piece)))[3:5]
    start = carets.index("^")
    before = shown[: shown.index(piece)].replace("\u200b", "")
    assert width(before) == start
    assert width(piece) == carets.count("^")
    assert "\t" not in shown
    assert "\x1b" not in shown


def test_a_long_line_is_cut_around_the_place() -> None:
    text = "a: [" + ", ".join(f"item{n}" for n in range(5000)) + "]"
    shown, carets = rendered(text, diagnostic(text, at(text, "item2500"), label="here"))[3:5]
    assert len(shown) <= WIDTH + 2 * len("...") + len("1 | ")
    assert shown.startswith("1 | ...")
    assert shown.endswith("...")
    assert shown[carets.index("^") :].startswith("item2500,")
    assert carets.endswith("^^^^^^^^ here")
    end = rendered(text, diagnostic(text, at(text, "item4999")))
    assert end[3].endswith(" item4999]")
    assert end[3][end[4].index("^") :] == "item4999]"
    assert rendered(text, diagnostic(text, (0, 1)))[3].startswith("1 | a: [item0, ")


def test_a_place_over_several_lines_is_marked_on_its_first() -> None:
    text = "a:\n  b: [1,\n    2]\n"
    assert rendered(text, diagnostic(text, at(text, "[1,\n    2]")))[3:5] == ["2 |   b: [1,", "  |      ^^^"]


@pytest.mark.parametrize("text", ["", "a: 1", "a: 1\n"])
def test_a_place_at_the_end(text: str) -> None:
    shown = rendered(text, diagnostic(text, (len(text), len(text)), help="do"))
    assert shown[0].startswith("error TSC101")
    assert shown[-3:] == ["  = help: do", "", "1 error in 1 file"]
    assert ("^" in "".join(shown)) == bool(text)


def test_without_the_text_there_is_no_excerpt() -> None:
    assert render([diagnostic("a: 1", (0, 1))], {}, RULES).splitlines() == [
        "error TSC101[unknown-name]: something is wrong",
        " --> specs/a.tsc.yaml:1:1",
        "",
        "1 error in 1 file",
    ]


def test_the_tally() -> None:
    one = [diagnostic("a: 1", (0, 1), rule=rule) for rule in RULES]
    other = diagnostic("a: 1", (0, 1), file="b.tsc.yaml")
    assert render([*one, other], {}, RULES).splitlines()[-1] == "3 errors, 2 warnings, 1 advice in 2 files"
    assert render([], {"a": "", "b": ""}, RULES) == "no findings in 2 files\n"


def test_nothing_in_a_message_moves_the_cursor() -> None:
    found = diagnostic("a: 1", (0, 1), "`\x1b[31m\n\u202e` is bad\ud800", file="a\n.yaml", help="a\tb")
    text = render([found], {}, RULES)
    assert r"`\x1b[31m\n\u202e` is bad\ud800" in text
    assert r"--> a\n.yaml:1:1" in text
    assert r"help: a\tb" in text
    assert concise.render([found], {}, RULES) == (
        r"a\n.yaml:1:1: TSC101[unknown-name] `\x1b[31m\n\u202e` is bad\ud800" "\n"
    )


def test_colour() -> None:
    text = "a: 1"
    found = diagnostic(text, (3, 4), label="this", related=(((0, 1), "that"),), help="write `2`")
    coloured = render([found], {FILE: text}, RULES, color=True)
    assert "\x1b[1;31merror TSC101[unknown-name]\x1b[0m" in coloured
    assert "\x1b[31m^\x1b[0m \x1b[31mthis\x1b[0m" in coloured
    plain = coloured
    for code in ("0", "1", "31", "34", "1;31"):
        plain = plain.replace(f"\x1b[{code}m", "")
    assert plain == render([found], {FILE: text}, RULES)
    assert "\x1b" not in plain
