"""TOML that reads, and each way to get it wrong."""

from __future__ import annotations

import pytest

from tests.source.findings import data, faults
from tsc.source import parse


def test_all_forms() -> None:
    text = """#:schema ../schema/tsc.json
tsc = 1
'kernel' = "k"
on = "yes"
"a b".c = 0x1F
eps = 1e-6
[params.x]
shape = ["m", "n # no comment"]
[[cases]]
m = 1
[[cases]]
m = 2
[tasks.load]
schedule = [
  { work_tile_loop = "tiles", body = [
    { acquire = "ring" },  # an array inside an inline table spans lines
  ] },
]
cuda = '''
  x = "#";
'''
"""
    assert data(text, "toml") == {
        "tsc": 1,
        "kernel": "k",
        "on": "yes",
        "a b": {"c": 31},
        "eps": 1e-6,
        "params": {"x": {"shape": ["m", "n # no comment"]}},
        "cases": [{"m": 1}, {"m": 2}],
        "tasks": {
            "load": {
                "schedule": [{"work_tile_loop": "tiles", "body": [{"acquire": "ring"}]}],
                "cuda": '  x = "#";\n',
            }
        },
    }


def test_order_is_kept() -> None:
    found = data("b = 1\na = 2\n[z]\n[y]\n", "toml")
    assert isinstance(found, dict)
    assert list(found) == ["b", "a", "z", "y"]


@pytest.mark.parametrize(
    ("text", "where", "message", "help"),
    [
        (
            "a = [rows, COLS]",
            "1:6-1:10",
            "`rows` is no value of TOML",
            'quote it: `"rows"`; in TOML every expression is a string',
        ),
        (
            "a = cdiv(x, 2)  # c",
            "1:5-1:15",
            "`cdiv(x, 2)` is no value of TOML",
            'quote it: `"cdiv(x, 2)"`; in TOML every expression is a string',
        ),
        (
            "a = 4 * y",
            "1:5-1:10",
            "`4 * y` is no value of TOML",
            'quote it: `"4 * y"`; in TOML every expression is a string',
        ),
        ("a = 010", "1:5-1:8", "`010` is no value of TOML", "write `10`"),
        ("a = .5", "1:5-1:7", "`.5` is no value of TOML", "write `0.5`"),
        ("a = True", "1:5-1:9", "`True` is no value of TOML", "write `true`"),
        ("a = null", "1:5-1:9", "`null` is no value of TOML", "leave the key out; TOML has no null"),
        ("a =\nb = 1", "1:3-1:4", "a value is missing here", "write the value"),
        (
            "tsc: 1",
            "1:4-1:5",
            "a `:` stands where TOML has `=`",
            "write `=`, or name the file `.tsc.yaml` if it is YAML",
        ),
        ("a", "1:1-1:2", "a `=` is missing after the key", "write `key = value`"),
        (
            "- a",
            "1:3-1:4",
            "a `=` is missing after the key",
            "write `key = value`",
        ),
        (
            "= 1",
            "1:1-1:4",
            "this is no `key = value` and no `[table]`",
            "write `key = value` or `[table]`; name the file `.tsc.yaml` if it is YAML",
        ),
        (
            "a = 1 b = 2",
            "1:7-1:8",
            "the value has ended before this",
            "quote the whole value, or put the next key on a line of its own",
        ),
        (
            "[a.]",
            "1:4-1:5",
            "a key is missing here",
            "write a name of letters, digits, `_` and `-`, or quote it",
        ),
        ("[[a]\n", "1:4-1:5", "the table header is not closed", "close it with `]`"),
        (
            "a = {b = 1,}",
            "1:12-1:13",
            "an inline table of TOML is one line without a `,` at its end",
            "delete the `,`, or write the table under a `[header]`",
        ),
        (
            "a = {b = 1\n}",
            "1:10-1:11",
            "an inline table of TOML ends on the line that it starts on",
            "keep it on one line; a list inside it may span lines",
        ),
        (
            "a = {b = 1 c = 2}",
            "1:12-1:13",
            "the inline table is not closed before this",
            "separate the entries with `,` and close it with `}`",
        ),
        (
            "a = ['x' 'y']",
            "1:10-1:11",
            "the list is not closed before this",
            "separate the entries with `,` and close it with `]`",
        ),
        ('a = "x\nb = 1', "1:5-1:6", 'the `"` is not closed', 'close it with `"`'),
        ("a = '''x\nb = 1", "1:5-1:8", "the `'''` is not closed", "close it with `'''`"),
        (
            r'"é" = "\q"',
            "1:8-1:10",
            r"`\q` is no escape of a double-quoted string here",
            r"write `\\q`, or use single quotes",
        ),
        ("a = 1979-05-27", "1:5-1:15", "the value is a date, which a spec does not have", "quote it"),
        ("a = [07:32:00]", "1:6-1:14", "the value is a time, which a spec does not have", "quote it"),
        ("a = 2001-02-30", "1:5-1:6", "the date does not exist, and a spec has none", "quote it"),
    ],
)
def test_the_one_fault_of_a_text(text: str, where: str, message: str, help: str) -> None:
    assert faults(text, "toml") == [f"bad-syntax {where} {message} | {help}"]
    assert parse(text, "spec", "toml").document is None


@pytest.mark.parametrize(
    ("text", "where", "first"),
    [
        ("a = 1\na = 2", "2:1-2:2", (1, 1)),
        ("[a]\nb = 1\n[a]\nc = 1", "3:2-3:3", (1, 2)),
        ("[a]\nb = 1\n[a.b]\n", "3:4-3:5", (2, 1)),
        ("a = {x = 1, x = 2}", "1:13-1:14", (1, 6)),
        ("a.b = 1\na = 2", "2:1-2:2", (1, 1)),
        ("a.b = 1\n[a]\nc = 1", "2:2-2:3", (1, 1)),
        ("a = []\n[[a]]\n", "2:3-2:4", (1, 1)),
        ("[a]\n[[a]]\n", "2:3-2:4", (1, 2)),
        ("\"é\" = 1\n'é' = 2", "2:1-2:4", (1, 1)),
    ],
)
def test_a_key_set_twice(text: str, where: str, first: tuple[int, int]) -> None:
    (finding,) = parse(text, "spec", "toml").findings
    (related,) = finding.related
    assert related.span is not None
    assert faults(text, "toml")[0].startswith(f"duplicate-key {where} the key ")
    assert (related.span.start.line, related.span.start.column) == first


def test_an_empty_spec() -> None:
    assert faults("# nothing\n", "toml") == [
        "not-a-mapping 1:1-1:10 the spec is empty | start with `tsc: 1`, `kernel: NAME` and `target: sm_90a`"
    ]
