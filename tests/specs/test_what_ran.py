"""The README's table of what runs where: every spec, its targets, and no claim that Blackwell's have run."""

from __future__ import annotations

import re
from pathlib import Path

from tsc.check import Proof, check_file

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SPECS = {
    path.relative_to(ROOT / "specs").as_posix().removesuffix(".tsc.yaml"): path
    for path in sorted((ROOT / "specs").rglob("*.tsc.yaml"))
}
RUN, COMPILED = "run on an H200", "compiled only"


def rows() -> dict[str, tuple[tuple[str, ...], str]]:
    """Targets and state of each spec that the table names."""
    table = README.partition("<!-- where -->\n")[2].partition("\n\n")[0]
    found: dict[str, tuple[tuple[str, ...], str]] = {}
    for line in table.splitlines()[2:]:
        names, targets, state = (cell.strip() for cell in line.strip("|").split("|"))
        for name in re.findall(r"`([\w/]+)`", names):
            assert name not in found
            found[name] = tuple(re.findall(r"`(\w+)`", targets)), state
    return found


def test_every_spec_is_there_once() -> None:
    assert sorted(rows()) == sorted(SPECS)


def test_targets_are_those_of_the_specs() -> None:
    wrong = {}
    for name, (targets, _) in rows().items():
        program = check_file(str(SPECS[name]), proof=Proof(wanted=False)).program
        assert program is not None
        if program.targets != targets:
            wrong[name] = program.targets
    assert wrong == {}


def test_nothing_of_blackwell_is_said_to_have_run() -> None:
    for name, (targets, state) in rows().items():
        if name.startswith("blackwell/") or set(targets) != {"sm_90a"}:
            assert state == COMPILED
            head = SPECS[name].read_text(encoding="utf-8").partition("\ntsc: 1")[0]
            assert "compiled, not yet run on a GPU" in re.sub(r"\s*\n#\s*", " ", head), name


def test_what_has_run_has_a_test_that_runs_it() -> None:
    folder = Path(__file__).parent
    tests = [*folder.glob("test_*_on_gpu.py"), folder / "test_on_gpu.py", folder / "gemms.py"]
    named = "".join(path.read_text(encoding="utf-8") for path in tests)
    states = {name: state for name, (targets, state) in rows().items() if targets == ("sm_90a",)}
    assert set(states.values()) == {RUN}
    assert [name for name in states if name.removeprefix("gemm/") not in named] == []
