"""Each way to get YAML wrong: the place, the sentence, the edit."""

from __future__ import annotations

import pytest

from tests.source.findings import faults
from tsc.source.lines import Lines
from tsc.source.yaml import compose
from tsc.source.yaml_events import HAS_C

IN_FLOW = "quote the expression or name it in `let`: inside `[...]` and `{...}` " + (
    "YAML itself reads `,` `[` `]` `{` `}`"
)
CASES = [
    (
        "a:\n\tb: c",
        "2:1-2:2",
        "a tab indents this line, YAML indents with spaces",
        "replace the tab by spaces",
    ),
    ("\ta: 1", "1:1-1:2", "a tab indents this line, YAML indents with spaces", "replace the tab by spaces"),
    (
        "a: x\n\ty",
        "2:1-2:2",
        "a tab indents this line, YAML indents with spaces",
        "replace the tab by spaces",
    ),
    (
        "a: |\n\tx",
        "2:1-2:2",
        "a tab indents this line, YAML indents with spaces",
        "replace the tab by spaces",
    ),
    ("a: @x", "1:4-1:5", "a value does not start with `@`", "quote the value"),
    ("a: `x`", "1:4-1:5", "a value does not start with a backtick", "quote the value"),
    ("a: %x", "1:4-1:5", "a value does not start with `%`", "quote the value"),
    (
        "a: x ? y : z",
        "1:10-1:11",
        "a second `:` stands in one value",
        "quote the value, or put the second key on a line of its own",
    ),
    (
        "a: 1\n bee: 2",
        "2:2-2:5",
        "the key `bee` is indented under `a`, which has a value already",
        "align it with `a`, or take the value of `a` away",
    ),
    ("tiles\nb: 1", "2:1-2:2", "the line above the key `b` is no `key: value`", "write `tiles: ...`"),
    ("a:{b: 1}", "1:2-1:3", "a space is missing after the `:`", "write `key: value`"),
    ("a: {b:1, c: 2}", "1:6-1:7", "a space is missing after the `:`", "write `key: value`"),
    ("a: 1\nb: {: x}", "2:5-2:6", "a key is missing before the `:`", "write the key, or delete the `:`"),
    (
        "a: - b",
        "1:4-1:5",
        "a list does not start on the line of its key",
        "put it on the next line, or write it as `[...]`",
    ),
    ("a: ? b", "1:4-1:5", "a `?` stands where no key can be", "quote the value"),
    ("a: [b, c", "1:4-1:5", "the `[` is not closed", "close it with `]`"),
    ("a: [1, 2\nb: 3", "1:4-1:5", "the `[` is not closed", "close it with `]`"),
    ("a: {b: 1\nc: 3\n", "1:4-1:5", "the `{` is not closed", "close it with `}`"),
    ("a: [b}", "1:6-1:7", "`}` stands where `]` closes the `[`", "write `]`"),
    ("a: {x: t[i]}", "1:9-1:10", "`[` stands inside an entry of `{...}`", IN_FLOW),
    ("a: [t[i, j], 0]", "1:6-1:7", "`[` stands inside an entry of `[...]`", IN_FLOW),
    (
        "a: [x: 1: 2]",
        "1:9-1:10",
        "an entry of `[...]` has a second `:`",
        "quote the value, or separate the entries with `,`",
    ),
    ("a: ['x' 'y']", "1:9-1:10", "a `,` is missing before `'`", "separate the entries with `,`"),
    ("a: [x, , y]", "1:8-1:9", "a value is missing before the `,`", "write the value, or delete the `,`"),
    ("a: ]", "1:4-1:5", "`]` closes nothing", "delete it, or quote the value that `]` is in"),
    (": 1", "1:1-1:2", "a key is missing before the `:`", "write the key, or delete the `:`"),
    (
        "a: [b]c",
        "1:7-1:8",
        "text follows the closing `]` of a value",
        "quote the whole value, or delete what follows",
    ),
    (
        "a: 'it's'",
        "1:8-1:9",
        "text follows the closing `'` of a value",
        "quote the whole value, or delete what follows",
    ),
    ("a: *b c\n", "1:7-1:8", "the value has ended before this", "quote the whole value"),
    (
        "a: 1\n- b",
        "2:1-2:2",
        "a list entry stands among the keys of a mapping",
        "indent it under the key that it belongs to",
    ),
    (
        "- a\nb: 1",
        "2:1-2:2",
        "a key stands among the entries of a list",
        "start it with `- `, or indent it under the entry above",
    ),
    (
        "a:\n  b: 1\n c: 2",
        "3:2-3:3",
        "the indentation of 1 space fits no line above",
        "align it with the line that it belongs beside",
    ),
    (
        " a: 1\nb: 2",
        "2:1-2:2",
        "the indentation of 0 spaces fits no line above",
        "align it with the line that it belongs beside",
    ),
    (
        "a: |\n  x\n y",
        "3:2-3:3",
        "the indentation of 1 space fits no line above",
        "align it with the line that it belongs beside",
    ),
    ("a: 'x\nb: 1\n", "1:4-1:5", "the `'` is not closed", "close it with `'`"),
    ('a: "x', "1:4-1:5", 'the `"` is not closed', 'close it with `"`'),
    ('a: "x\n---\n', "2:1-2:4", "a document mark stands inside a quoted value", "close the quote before it"),
    (
        r'a: "\q"',
        "1:5-1:7",
        r"`\q` is no escape of a double-quoted value",
        r"write `\\q`, or use single quotes",
    ),
    (
        r'a: "\x4"',
        "1:5-1:7",
        r"the escape `\x` is not followed by 2 hexadecimal digits",
        "write 2 digits, or use single quotes",
    ),
    (
        r'a: "é\ud800"',
        "1:6-1:12",
        r"the escape `\ud800` is no character",
        r"write a code up to `\U0010ffff`, or use single quotes",
    ),
    (
        r'a: "\U00110000"',
        "1:5-1:15",
        r"the escape `\U00110000` is no character",
        r"write a code up to `\U0010ffff`, or use single quotes",
    ),
    ("a: * 2", "1:4-1:5", "`*` starts an alias, and no name follows it", "quote the expression"),
    ("a: &&b", "1:4-1:5", "`&` starts an anchor, and no name follows it", "quote the expression"),
    (
        "a: >= 3",
        "1:4-1:5",
        "`>` starts a block of text, and more than that stands on its line",
        "quote the expression, or put the text on the next line",
    ),
    ("a: 1\nfoo\nb: 2", "2:1-2:4", "`foo` has no `:` after it", "write `foo: ...`"),
    (
        "a: 1\n... x",
        "2:5-2:6",
        "text follows the end of the document",
        "delete it, or indent it as part of a value",
    ),
]


@pytest.mark.parametrize(("text", "where", "message", "help"), CASES)
def test_the_last_finding_says_it(text: str, where: str, message: str, help: str) -> None:
    assert faults(text, "yaml")[-1] == f"bad-syntax {where} {message} | {help}"


@pytest.mark.skipif(not HAS_C, reason="PyYAML has no C parser here")
@pytest.mark.parametrize("text", [case[0] for case in CASES])
def test_the_pure_parser_says_the_same(text: str) -> None:
    lines = Lines(text)
    assert compose(lines, pure=True).findings == compose(lines).findings


def test_a_colon_before_a_comma() -> None:
    assert faults("a: {b:, c: 1}", "yaml") == [
        "bad-syntax 1:6-1:7 a space is missing after the `:` | write `key: value`"
    ]


def test_a_tag_that_does_not_end() -> None:
    assert faults("a: !<x b", "yaml") == [
        "unsupported-yaml 1:4-1:5 `!` starts a tag, which the language does not have"
        " | quote the value; in expressions write `not`"
    ]
