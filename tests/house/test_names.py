"""The habits that a machine can hold: sizes, docstrings, `__all__`, words that do not belong."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

from tests.house.modules import ROOT, modules

MODULES = modules()
LONGEST = 400
LONGEST_RULE = 80
FOLDERS = (".ci", "benchmarks", "codegen", "schema", "specs", "tests", "tsc")
TEXTS = {"", ".cu", ".cuh", ".j2", ".json", ".md", ".py", ".toml", ".txt", ".yaml"}

# The project has no place for one machine's folders, and leaves nothing half done.
UNWANTED = re.compile(r"(?<![\w.])/(?:home|root|work)/|\b(?:TODO|FIXME|NotImplementedError)\b")


def unwanted(text: str) -> list[str]:
    return [match.group() for match in UNWANTED.finditer(text)]


@pytest.mark.parametrize("name", MODULES)
def test_module_keeps_the_habits(name: str) -> None:
    text = MODULES[name].read_text(encoding="utf-8")
    tree = ast.parse(text)
    lines = text.count("\n")
    docstring = ast.get_docstring(tree) or ""
    is_rule = name.startswith("tsc.rules.") and any(
        isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "RULE" for node in tree.body
    )
    assert lines <= LONGEST
    assert docstring
    if is_rule:
        code = lines - docstring.count("\n")
        assert code <= LONGEST_RULE
    else:
        # A hierarchy may be drawn below the words.
        assert len([line for line in docstring.splitlines() if line[:1] not in "├└│"]) <= 5
    if len(tree.body) > 1:
        assert "from __future__ import annotations" in text


@pytest.mark.parametrize(
    "name", [name for name in MODULES if "\n__all__ = " in MODULES[name].read_text("utf-8")]
)
def test_all_is_true(name: str) -> None:
    # Its order is ruff's to hold (RUF022).
    module = importlib.import_module(name)
    assert [word for word in module.__all__ if not hasattr(module, word)] == []


def test_no_file_has_an_unwanted_word() -> None:
    files = [path for path in ROOT.iterdir() if path.is_file() and path.suffix != ".lock"]
    for folder in FOLDERS:
        files += [path for path in (ROOT / folder).rglob("*") if path.suffix in TEXTS and path.is_file()]
    found = {
        str(path.relative_to(ROOT)): unwanted(path.read_text(encoding="utf-8", errors="replace"))
        for path in files
        if path != Path(__file__)
    }
    assert {name: words for name, words in found.items() if words} == {}


@pytest.mark.parametrize("text", ["see /home/x", "# TODO: later", "raise NotImplementedError"])
def test_an_unwanted_word_is_found(text: str) -> None:
    assert len(unwanted(text)) == 1


def test_every_golden_file_has_its_test() -> None:
    golden = ROOT / "tests" / "golden"
    stray = []
    for path in golden.rglob("*"):
        if not path.is_file():
            continue
        test = ROOT / "tests" / path.parent.relative_to(golden).with_suffix(".py")
        function = re.split(r"[\[.]", path.name)[0]
        if not (test.is_file() and f"def {function}(" in test.read_text(encoding="utf-8")):
            stray.append(str(path.relative_to(ROOT)))
    assert stray == []
