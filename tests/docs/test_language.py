"""docs/language.md keeps its word: specs are silent, fragments parse, commands print what is shown."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, blocks, checked, inline, lines, listing, page, table, tables
from tsc.emit.generated import not_generated
from tsc.expr.tree import FUNCTIONS
from tsc.model import RESERVED
from tsc.program.names import BUILD_FIELDS, OTHER_FIELDS, global_names, thread_names, tile_names
from tsc.program.scope import Stage
from tsc.program.target import known_targets
from tsc.source import parse
from tsc.spec.load import to_spec
from tsc.spec.schedule import NODES

PAGE = "language.md"
WHOLE = {
    f"line {block.line}": (block, language)
    for language in ("yaml", "toml")
    for block in blocks(PAGE, f"{language} whole")
}
STEPS = {f"line {block.line}": block for block in blocks(PAGE, "yaml steps")}

# What fragments of schedules stand in, so that they can be read; their names need not be declared for that.
HOST = """\
tsc: 1
kernel: host
target: sm_90a
resources: {}
tasks:
  one:
    warps: 1
    schedule:
"""


@pytest.mark.parametrize("where", WHOLE)
def test_a_whole_spec_is_silent_and_generated(where: str) -> None:
    block, language = WHOLE[where]
    report = checked(block.text, language)
    assert lines(report) == []
    assert report.program is not None
    assert list(not_generated(report.program)) == []


def test_yaml_and_toml_say_the_same() -> None:
    (yaml, *_), (toml,) = blocks(PAGE, "yaml whole"), blocks(PAGE, "toml whole")
    assert checked(yaml.text, "yaml").spec == checked(toml.text, "toml").spec


def findings(steps: str) -> list[str]:
    text = HOST + "".join(f"      {line}\n" for line in steps.splitlines())
    document = parse(text, "page.tsc.yaml", "yaml").document
    assert document is not None, text
    return [finding.message for finding in to_spec(document)[1]]


@pytest.mark.parametrize("where", STEPS)
def test_a_fragment_reads(where: str) -> None:
    assert findings(STEPS[where].text) == []


def test_a_wrong_fragment_is_found() -> None:
    assert findings("- acqire: ring\n") != []


def inline_steps() -> list[str]:
    """Inline code that is a step: a flow mapping with a verb."""
    found = [code for code in inline(PAGE) if code.startswith("{") and code.endswith("}")]
    return [code for code in found if set(re.findall(r"(\w+):", code)) & set(NODES)]


def test_inline_steps_read() -> None:
    assert len(inline_steps()) > 3
    assert {step: findings(f"- {step}\n") for step in inline_steps()} == {step: [] for step in inline_steps()}


def sessions() -> list[tuple[str, str]]:
    """Each command of the page's console blocks with the output shown below it."""
    return [
        (command, output)
        for block in blocks(PAGE, "console")
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
        for command, _, output in [part.partition("\n")]
    ]


def matches(shown: str, printed: str) -> bool:
    """Whether a shown output is what was printed; a line `...` stands for any lines."""
    pattern = re.escape(shown).replace(re.escape("...") + "\\\n", "(?:.*\n)*?")
    return re.fullmatch(pattern, printed) is not None


@pytest.mark.parametrize(("command", "shown"), sessions(), ids=[command for command, _ in sessions()])
def test_a_command_prints_what_is_shown(command: str, shown: str, tmp_path: Path) -> None:
    for block in blocks(PAGE, "yaml whole"):
        name = re.search(r"^# ([\w.]+\.tsc\.yaml):", block.text, re.MULTILINE)
        assert name is not None, "a whole spec says in a comment how its file is called"
        (tmp_path / name[1]).write_text(block.text, encoding="utf-8")
    program, *words = command.split()
    assert program == "tsc"
    env = os.environ | {"PYTHONPATH": str(ROOT), "TSC_CACHE_DIR": str(tmp_path / "cache"), "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "tsc", *words],
        cwd=tmp_path,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert matches(shown, done.stdout), done.stdout


def test_reserved_names_are_those_of_the_models() -> None:
    assert sorted(listing(PAGE, "reserved").split()) == sorted(RESERVED)


def test_functions_are_those_of_the_expressions() -> None:
    rows = table(PAGE, "functions").rows
    assert sorted(re.findall(r"`(\w+)\(", " ".join(row[0] for row in rows))) == sorted(FUNCTIONS)


def test_targets_are_those_that_are_known() -> None:
    (row,) = (row for one in tables(PAGE) for row in one.rows if row[0] == "`target`")
    assert sorted(re.findall(r"`(sm_\w+)`", row[3])) == sorted(known_targets())


def test_names_are_those_of_the_program() -> None:
    report = checked(WHOLE[min(WHOLE)][0].text, WHOLE[min(WHOLE)][1])
    assert report.spec is not None
    names = {**global_names(report.spec), **tile_names(report.spec), **thread_names(report.spec)}
    fixed = {name for name, known in names.items() if known.kind == "builtin"} | {"tile.seq"}
    fixed |= {"loop", "iter", "trips", "replica", "part"}
    text = page(PAGE).partition("## 5. Names")[2].partition("## 6.")[0]
    assert {name for name in fixed if f"`{name}`" not in text} == set()


def test_places_are_as_early_as_the_program_has_them() -> None:
    rows = {row[0]: row[1] for row in table(PAGE, "known").rows}
    wanted = [(verb, field, "build") for verb, field in BUILD_FIELDS]
    wanted += [(verb, field, Stage(stage).name.lower()) for (verb, field), stage in OTHER_FIELDS.items()]
    missing = [
        (verb, field)
        for verb, field, known in wanted
        if not {f"`{verb}`", f"`{field.rstrip('_')}`"} & set(re.findall(r"`\w+`", rows[known]))
    ]
    assert missing == []


def test_links_lead_somewhere() -> None:
    wrong = []
    for name in ("language.md", "architecture.md", "running.md"):
        for target in re.findall(r"\]\(([^)\s]+)\)", page(name)):
            file, _, anchor = target.partition("#")
            path = (ROOT / "docs" / (file or name)).resolve()
            if not path.exists() or (anchor and anchor not in anchors(path)):
                wrong.append(f"{name}: {target}")
    assert wrong == []


def anchors(path: Path) -> set[str]:
    """The anchors that a renderer makes of headings."""
    heads = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_blocks_have_an_info_string_that_a_test_knows() -> None:
    infos = {line[3:] for line in page(PAGE).splitlines() if line.startswith("```")} - {""}
    assert infos == {"yaml whole", "toml whole", "yaml steps", "console"}
