"""Files, standard input and encodings; which language a text is in."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from tests.source.findings import faults, places
from tsc.source import ReadError, parse, read


def write(folder: Path, name: str, text: str | bytes) -> str:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


@pytest.mark.parametrize(
    ("name", "text", "language"),
    [
        ("a.tsc.yaml", "a: 1", "yaml"),
        ("a.YML", "a: 1", "yaml"),
        ("a.tsc.toml", "a = 1", "toml"),
        ("a.json", '{"a": 1}', "yaml"),
        ("a", "# c\n\na: 1", "yaml"),
        ("a", "#:schema x\n", "toml"),
        ("a", '# c\n"a" . b = 1', "toml"),
        ("a", "[tasks.load]\nwarps = 1", "toml"),
        ("a", "[a, b]", "yaml"),
        ("a", "a: x == 1", "yaml"),
        ("a", "", "yaml"),
    ],
)
def test_the_language_of_a_file(tmp_path: Path, name: str, text: str, language: str) -> None:
    reading = read(write(tmp_path, name, text))
    found = reading.document.language if reading.document else None
    assert found == language or reading.findings[0].rule == "not-a-mapping"
    if reading.document is None:
        assert parse(text, name, language).findings == reading.findings


def test_the_language_can_be_said(tmp_path: Path) -> None:
    reading = read(write(tmp_path, "a.yaml", "a = 1"), language="toml")
    assert reading.document is not None
    assert reading.document.data == {"a": 1}
    with pytest.raises(ReadError, match=r"the language of a spec is `yaml` or `toml`, not `json`"):
        read(write(tmp_path, "a.yaml", "a = 1"), language="json")


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def given(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    given("a: é".encode())
    reading = read("-")
    assert reading.name == "<stdin>"
    assert reading.document is not None
    assert (reading.document.name, reading.document.data) == ("<stdin>", {"a": "é"})
    given(b"a = 1")
    assert read("-").findings == ()
    given(b"a = 1")
    assert read("-", stdin_name="x/a.tsc.toml").name == "x/a.tsc.toml"
    given(b"x" * (4 * 1024 * 1024 + 1))
    assert [finding.rule for finding in read("-").findings] == ["input-too-large"]
    monkeypatch.setattr(sys, "stdin", io.StringIO("a: 1"))
    assert read("-").findings == ()
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ReadError, match="standard input is closed"):
        read("-")


def test_what_cannot_be_read(tmp_path: Path) -> None:
    fifo = str(tmp_path / "fifo")
    os.mkfifo(fifo)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    sentences = {
        str(tmp_path / "no.yaml"): "does not exist",
        str(tmp_path): "is a folder, a spec is a file",
        fifo: "is not a regular file; pass `-` to read a spec from standard input",
        str(loop): "cannot be read: too many levels of symbolic links",
        str(tmp_path / ("x" * 300)): "cannot be read: file name too long",
        str(Path(write(tmp_path, "f.yaml", "a: 1")) / "x"): "cannot be read: not a directory",
    }
    for path, sentence in sentences.items():
        with pytest.raises(ReadError) as caught:
            read(path)
        assert str(caught.value) == f"`{path}` {sentence}"
    with pytest.raises(ReadError, match="is no path"):
        read("a\0b")


@pytest.mark.parametrize(
    "error", [PermissionError(13, "Permission denied"), OSError(5, "Input/output error")]
)
def test_what_the_system_refuses(error: OSError, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "a.yaml", "a: 1")

    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(Path, "open", refuse)
    reason = "permission is denied" if isinstance(error, PermissionError) else "input/output error"
    with pytest.raises(ReadError) as caught:
        read(path)
    assert str(caught.value) == f"`{path}` cannot be read: {reason}"


def test_bytes_that_are_no_utf_8(tmp_path: Path) -> None:
    reading = read(write(tmp_path, "a.yaml", b"a: 1\nb: caf\xe9 x\n"))
    assert reading.document is None
    assert places(reading.findings) == [
        "bad-encoding 2:7-2:8 the byte 0xE9 is not UTF-8 | save the file as UTF-8"
    ]
    assert reading.text.splitlines()[1] == "b: caf\ufffd x"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16(tmp_path: Path, encoding: str) -> None:
    mark = b"" if encoding == "utf-16" else "\ufeff".encode(encoding)
    reading = read(write(tmp_path, "a.yaml", mark + "a: 1".encode(encoding)))
    assert places(reading.findings) == [
        "bad-encoding 1:1-1:1 the text is encoded as UTF-16, a spec is UTF-8 | save the file as UTF-8"
    ]
    assert reading.text == "a: 1"


def test_a_byte_order_mark_is_no_column(tmp_path: Path) -> None:
    for name, text in (("a.yaml", "a: 1\na: 2\n"), ("a.toml", "a = 1\na = 2\n")):
        reading = read(write(tmp_path, name, b"\xef\xbb\xbf" + text.encode()))
        assert reading.text == text
        assert places(reading.findings)[0].startswith("duplicate-key 2:1-2:2 ")


@pytest.mark.parametrize(
    ("text", "language", "fault"),
    [
        (
            "a: \0",
            "yaml",
            "1:4-1:5 the control character U+0000 stands in the text"
            r" | delete it; inside double quotes it can be written as `\u0000`",
        ),
        (
            "é = 1 # \x7f",
            "toml",
            "1:9-1:10 the control character U+007F stands in the text"
            r" | delete it; inside double quotes it can be written as `\u007f`",
        ),
        (
            "a: x\u2028b: 1",
            "yaml",
            "1:5-1:6 the character U+2028 stands in the text, which some readers take for a line break"
            r" | delete it; inside double quotes it can be written as `\u2028`",
        ),
        ("a: x\ufeff", "yaml", "1:5-1:6 a byte order mark (U+FEFF) stands inside the text | delete it"),
        ("a: \ud800", "yaml", "1:4-1:5 the lone surrogate U+D800 stands in the text | delete it"),
        (
            "a = 1\rb = 2",
            "toml",
            "1:6-2:1 a carriage return (U+000D) stands without a line feed | end the line with LF or CRLF",
        ),
    ],
)
def test_characters_that_no_spec_has(text: str, language: str, fault: str) -> None:
    assert faults(text, language) == [f"bad-encoding {fault}"]


def test_a_line_separator_breaks_no_line_of_toml() -> None:
    reading = parse("a = 'x\u2028y' # \x85\nb = 1\nb = 2\n", "spec", "toml")
    assert places(reading.findings)[0].startswith("duplicate-key 3:1-3:2 ")
