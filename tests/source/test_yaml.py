"""YAML that reads, and YAML that the language does not have."""

from __future__ import annotations

import pytest

from tests.source.findings import data, faults
from tsc.source import parse


def test_the_traps_of_yaml_1_1() -> None:
    text = "range: 4:12\non: yes\nno: off\nten: 010\neps: 1e-6\nflag: true\nquoted: ['010', \"true\", '~']\n"
    assert data(text) == {
        "range": "4:12",
        "on": "yes",
        "no": "off",
        "ten": 10,
        "eps": 1e-6,
        "flag": True,
        "quoted": ["010", "true", "~"],
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1\r\nb: |\r\n  x\r\n  y\r\n", {"a": 1, "b": "x\ny\n"}),
        ("a: 1\rb: 2", {"a": 1, "b": 2}),
        ("\ufeffa: 1", {"a": 1}),
        ("%YAML 1.2\n---\na: 1\n...\n", {"a": 1}),
        ("a:\t1\t# tab\nb: [x,\ty]\nc: x\ty\n", {"a": 1, "b": ["x", "y"], "c": "x\ty"}),
        ('{"a":1,"b":[true,null]}', {"a": 1, "b": [True, None]}),
        ("a: &x [1, 2]\nb: *x\n", {"a": [1, 2], "b": [1, 2]}),
        ("a: &x k\n*x : 1\n", {"a": "k", "k": 1}),
        ("a: &x\nb: *x\n", {"a": None, "b": None}),
        ("a: x if c else y\nb: a % b >= 3\nc: x[i, j]\nd: (a, b\n", None),
        ("a: x#y\nb: x #y\n", {"a": "x#y", "b": "x"}),
    ],
)
def test_reads(text: str, value: object) -> None:
    found = data(text)
    assert found == value if value is not None else isinstance(found, dict)


def test_an_alias_is_a_copy() -> None:
    found = data("a: &x {k: [1]}\nb: *x\n")
    assert isinstance(found, dict)
    found["b"]["k"].append(2)
    assert found["a"] == {"k": [1]}


@pytest.mark.parametrize(
    ("text", "rule", "where", "message", "help"),
    [
        (
            "a: 1\nb: 2\na: 3\n",
            "duplicate-key",
            "3:1-3:2",
            "the key `a` is set twice in one mapping",
            "delete one of the two",
        ),
        (
            "<<: {a: 1}\nb: 2\n",
            "unsupported-yaml",
            "1:1-1:3",
            "the merge key `<<` is not part of YAML 1.2",
            "write the keys out, or let an alias stand for the whole mapping",
        ),
        (
            "4: x\nb: 2\n",
            "unsupported-yaml",
            "1:1-1:2",
            "the key `4` is an integer, keys are strings",
            'quote it: `"4"`',
        ),
        (
            "true: x\n",
            "unsupported-yaml",
            "1:1-1:5",
            "the key `true` is a boolean, keys are strings",
            'quote it: `"true"`',
        ),
        (
            "[a, b]: x\nc: 1\n",
            "unsupported-yaml",
            "1:1-1:7",
            "a list or mapping is used as a key, keys are strings",
            "write a name; an expression that starts with `[` or `{` is quoted",
        ),
        (
            "a: 1\nb: {? : x}\n",
            "unsupported-yaml",
            "2:7-2:8",
            "a key is missing before the `:`",
            "write the key, or delete the `:`",
        ),
        (
            "a: !!int 4\n",
            "unsupported-yaml",
            "1:4-1:9",
            "the tag `!!int` is not part of the language",
            "delete the tag",
        ),
        (
            "a: &x !!str 4\n",
            "unsupported-yaml",
            "1:7-1:12",
            "the tag `!!str` is not part of the language",
            "quote the value",
        ),
        (
            "a: !busy\n",
            "unsupported-yaml",
            "1:4-1:9",
            "the tag `!busy` is not part of the language",
            "quote the value; in expressions write `not`",
        ),
        (
            "a: 1\n---\nb: 2\n",
            "unsupported-yaml",
            "2:1-2:4",
            "a second document starts here, a spec is one document",
            "keep one spec a file, and delete the `---` between them",
        ),
    ],
)
def test_what_the_language_does_not_have_still_gives_a_document(
    text: str, rule: str, where: str, message: str, help: str
) -> None:
    assert faults(text, "yaml") == [f"{rule} {where} {message} | {help}"]
    assert parse(text, "spec", "yaml").document is not None


@pytest.mark.parametrize(
    ("text", "rule", "where", "message", "help"),
    [
        (
            "%YAML 1.1\n---\na: 1\n",
            "unsupported-yaml",
            "1:1-1:10",
            "the directive `%YAML 1.1` is not supported",
            "delete the line; a spec is YAML 1.2 without being told",
        ),
        (
            "a: &x {b: *x}\n",
            "unsupported-yaml",
            "1:11-1:13",
            "the alias `*x` stands inside the value that it names",
            "write the value out",
        ),
        (
            "a: &ring 1\nb: *rin\n",
            "bad-syntax",
            "2:4-2:8",
            "the alias `*rin` names no anchor above it",
            "write `*ring`",
        ),
        (
            "a: *x * 2\n",
            "bad-syntax",
            "1:4-1:6",
            "the alias `*x` names no anchor above it",
            "set the anchor `&x` before it, or quote the text",
        ),
        (
            "",
            "not-a-mapping",
            "1:1-1:1",
            "the spec is empty",
            "start with `tsc: 1`, `kernel: NAME` and `target: sm_90a`",
        ),
        (
            "# only a comment\n",
            "not-a-mapping",
            "1:1-1:17",
            "the spec is empty",
            "start with `tsc: 1`, `kernel: NAME` and `target: sm_90a`",
        ),
        (
            "- a\n- b\n",
            "not-a-mapping",
            "1:1-1:4",
            "a spec is a mapping of keys to values, this is a list",
            "start with `tsc: 1`",
        ),
        (
            "abc\n",
            "not-a-mapping",
            "1:1-1:4",
            "a spec is a mapping of keys to values, this is a single value",
            "start with `tsc: 1`",
        ),
    ],
)
def test_what_gives_no_document(text: str, rule: str, where: str, message: str, help: str) -> None:
    assert faults(text, "yaml")[0] == f"{rule} {where} {message} | {help}"
    assert parse(text, "spec", "yaml").document is None


def test_the_first_of_two_equal_keys_is_kept_and_shown() -> None:
    reading = parse("a: {k: 1, k: 2}\n", "spec", "yaml")
    (finding,) = reading.findings
    assert reading.document is not None
    assert reading.document.data == {"a": {"k": 1}}
    assert finding.place.route == ("a", "k")
    (first,) = finding.related
    assert first.span is not None
    assert (first.label, first.span.start.column) == ("first set here", 5)


def test_all_faults_of_a_text_come_in_one_reading() -> None:
    text = "a: 1\na: 2\n<<: {}\nb: !t x\nc: [1, 2\n"
    assert [fault.split()[0] for fault in faults(text, "yaml")] == [
        "duplicate-key",
        "unsupported-yaml",
        "unsupported-yaml",
        "bad-syntax",
    ]
