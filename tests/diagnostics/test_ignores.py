"""Comments that silence diagnostics, and comments that do not."""

from __future__ import annotations

import pytest

from tests.diagnostics.samples import RULES, at, diagnostic
from tests.source.findings import places
from tsc.diagnostics.ignores import Applied, apply
from tsc.diagnostics.model import Diagnostic, Rule
from tsc.source import Document, parse

NAME, TOKEN = RULES[2], RULES[3]


def document(text: str, language: str = "yaml") -> Document:
    reading = parse(text, "specs/a.tsc.yaml", language)
    assert reading.document is not None
    return reading.document


def applied(text: str, *found: Diagnostic, language: str = "yaml", active: set[str] | None = None) -> Applied:
    return apply(found, document(text, language), RULES, active)


def unknown(text: str, piece: str = "rong", rule: Rule = NAME) -> Diagnostic:
    return diagnostic(text, at(text, piece), rule=rule)


@pytest.mark.parametrize(
    "text",
    [
        "a: rong # tsc: ignore[unknown-name]\n",
        "a: rong # tsc: ignore[TSC101]\n",
        "a: rong #tsc:ignore[ unused-token ,unknown-name ]  because it is so\n",
        "a: rong # tsc: ignore\n",
        "# tsc: ignore[unknown-name]\na: rong\n",
        "b: 1\n  # tsc: ignore\n\n  # a word on it\nc: rong\n",
        "a: rong\n# tsc: ignore-file[unknown-name]\n",
        "# tsc: ignore-file\na: 1\nb: rong\n",
        "a: | # tsc: ignore[unknown-name]\n  rong\nb: 1\n".replace("a: |", "rong: |").replace(
            "  rong", "  x"
        ),
        "a: {b: '# x', # tsc: ignore\n  c: rong}\n".replace("c: rong", "c: 1").replace("b: '# x'", "b: rong"),
    ],
)
def test_ignored(text: str) -> None:
    found = unknown(text)
    result = applied(text, found)
    assert (result.kept, result.ignored) == ((), (found,))
    assert not [finding for finding in result.unused if "unknown-name" in finding.message]


@pytest.mark.parametrize(
    "text",
    [
        "a: rong\n",
        "a: rong # tsc: ignore[unused-token]\n",
        "a: rong\n# tsc: ignore\nb: 1\n",
        "b: 1 # tsc: ignore\na: rong\n",
        "a: 'rong # tsc: ignore'\n",
        'a: "rong\n  # tsc: ignore"\n',
        "a: |\n  rong # tsc: ignore\nb: 1\n",
        "a: rong#tsc:ignore\n",
        "# tsc: ignore-file[unused-token]\na: rong\n",
        "a: rong # tsc ignore\n",
        "a: rong # see tsc: ignore\n",
    ],
)
def test_not_ignored(text: str) -> None:
    found = unknown(text)
    assert applied(text, found).kept == (found,)


def test_toml() -> None:
    text = "a = 'rong # tsc: ignore'\nb = 'wrang' # tsc: ignore[unknown-name]\n"
    kept, ignored = unknown(text), unknown(text, "wrang")
    result = applied(text, kept, ignored, language="toml")
    assert (result.kept, result.ignored, result.unused) == ((kept,), (ignored,), ())


def test_errors_of_the_text_are_never_ignored() -> None:
    text = "a: 1\na: 2 # tsc: ignore[duplicate-key]\n"
    found = diagnostic(text, at(text, "a", 1), rule=RULES[0])
    result = applied(text, found)
    assert result.kept == (found,)
    fault = "`duplicate-key` is an error of the text, which is never ignored | mend the text"
    assert places(result.unused) == [f"unused-ignore 2:20-2:33 {fault}"]


@pytest.mark.parametrize(
    ("comment", "fault"),
    [
        (
            "# tsc: ignore[unused-token]",
            "1:20-1:32 `unused-token` says nothing on line 1 | delete it from the comment",
        ),
        ("# tsc: ignore[TSC150]", "1:20-1:26 `TSC150` says nothing on line 1 | delete it from the comment"),
        ("# tsc: ignore", "1:6-1:19 nothing on line 1 is ignored by this | delete the comment"),
        ("# tsc: ignore-file", "1:6-1:24 nothing in the spec is ignored by this | delete the comment"),
        ("# tsc: ignore[unknown-nam]", "1:20-1:31 no rule is called `unknown-nam` | write `unknown-name`"),
        ("# tsc: ignore[zzz]", "1:20-1:23 no rule is called `zzz` | take the name from `tsc rules`"),
        (
            "# tsc: ignore[unused-token",
            "1:19-1:32 the list of names is not closed | write `ignore[name, other]`",
        ),
        ("# tsc: ignore[ ]", "1:19-1:22 the list of names is empty | write `ignore[name, other]`"),
        (
            "# tsc: ignroe[unused-token]",
            "1:13-1:19 `ignroe` is no word that tsc knows in a comment | write `ignore` or `ignore-file`",
        ),
    ],
)
def test_unused(comment: str, fault: str) -> None:
    assert places(applied(f"a: 1 {comment}\n").unused) == [f"unused-ignore {fault}"]


@pytest.mark.parametrize(
    "comment", ["# tsc: 1", "# tsc: gemm is a kernel", "# tsc:", "# a tsc: ignore", "# tsc"]
)
def test_no_directive_at_all(comment: str) -> None:
    assert applied(f"{comment}\na: 1\n").unused == ()


def test_only_the_unused_name_of_a_list_is_reported() -> None:
    text = "a: rong # tsc: ignore[unknown-name, unused-token]\n"
    assert [finding.message for finding in applied(text, unknown(text)).unused] == [
        "`unused-token` says nothing on line 1"
    ]


def test_an_ignore_of_a_rule_that_did_not_run_is_not_unused() -> None:
    text = "a: 1 # tsc: ignore[unused-token]\nb: 2 # tsc: ignore\n"
    assert applied(text, active={"unknown-name"}).unused == ()
    assert len(applied(text, active={rule.name for rule in RULES}).unused) == 2


@pytest.mark.parametrize("comment", ["# tsc: ignore-file[unused-ignore]\n", "# tsc: ignore-file[TSC007]\n"])
def test_unused_ignores_can_be_ignored(comment: str) -> None:
    assert applied(comment + "a: 1 # tsc: ignore[unused-token]\n").unused == ()
    assert (
        len(applied("a: 1 # tsc: ignore[unused-token, zzz, unused-ignore]\nb: 1 # tsc: ignore\n").unused) == 1
    )


def test_many_comments_and_diagnostics() -> None:
    text = "".join(f"k{n}: 1 # tsc: ignore[wrong{n}]\n" for n in range(5000))
    found = [diagnostic(text, (0, 1))] * 5000
    result = applied(text, *found)
    assert len(result.kept) == 5000
    assert len(result.unused) == 100
    stacked = document("# tsc: ignore[unused-token]\n" * 20_000 + "a: 1\n")
    assert len(apply([], stacked, RULES).unused) == 100
