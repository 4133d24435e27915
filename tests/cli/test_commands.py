"""Each command from outside: its arguments, its output and its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.modules import ROOT

GOOD = "specs/copy/tma.tsc.yaml"
WRONG = """
tsc: 1
kernel: k
target: sm_90a
resources: {}
tasks: {copy: {warps: 1, schedule: [{acquire: ring}]}}
"""


def specs(folder: str = "") -> list[str]:
    """The shipped specs of a folder, as paths from the root in their order."""
    found = (ROOT / "specs" / folder).rglob("*.tsc.yaml")
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def tsc(
    *arguments: str, cwd: Path = ROOT, stdin: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PYTHONPATH": str(ROOT), "NO_COLOR": "1"} | environment
    return subprocess.run(
        [sys.executable, "-m", "tsc", *arguments],
        cwd=cwd,
        env=env,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.tsc.yaml"
    path.write_text(WRONG, encoding="utf-8")
    return path


class TestCheck:
    def test_clean_specs_exit_with_0(self) -> None:
        done = tsc("check", GOOD, "specs/norm")
        assert (done.returncode, done.stderr) == (0, "")
        first, *verdicts = done.stdout.splitlines()
        assert first == f"no findings in {1 + len(specs('norm'))} files"
        assert [line.partition(" (")[0] for line in verdicts] == [
            f"{path}: proved for every size and trip count" for path in (GOOD, *specs("norm"))
        ]

    def test_a_spec_named_twice_is_checked_once(self) -> None:
        done = tsc("check", GOOD, "specs/copy/../copy/tma.tsc.yaml", GOOD)
        assert done.stdout.splitlines()[0] == "no findings in 1 file"

    def test_the_verdict_is_an_object_in_json(self) -> None:
        (verdict,) = json.loads(tsc("check", GOOD, "--format", "json").stdout)["verdicts"]
        assert (verdict["file"], verdict["outcome"], verdict["budget"]) == (GOOD, "proved", 2000)
        assert 0 < verdict["states"] < 100 and verdict["promises"] == []

    def test_an_open_proof_is_an_error_unless_allowed(self) -> None:
        done = tsc("check", GOOD, "--budget", "3", "--format", "concise")
        assert done.returncode == 1 and "TSC345[unproven]" in done.stdout
        assert done.stdout.splitlines()[-1].startswith(f"{GOOD}: not proved (")
        assert tsc("check", GOOD, "--budget", "3", "--allow-unproven").returncode == 0
        assert tsc("check", GOOD, "--budget", "0").returncode == 2

    def test_a_trace_is_written(self, tmp_path: Path) -> None:
        assert tsc("check", GOOD, "--trace", str(tmp_path / "out.json")).returncode == 0
        assert json.loads((tmp_path / "out.json").read_text())["otherData"]["outcome"] == "proved"

    def test_a_trace_is_of_one_spec_that_is_otherwise_right(self, wrong: Path, tmp_path: Path) -> None:
        done = tsc("check", "specs", "--trace", str(tmp_path / "out.json"))
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"tsc: `--trace` draws one spec, and {len(specs())} are checked\n"
        done = tsc("check", str(wrong), "--trace", str(tmp_path / "out.json"))
        assert done.returncode == 1 and "is not written" in done.stderr
        assert not (tmp_path / "out.json").exists()

    @pytest.mark.parametrize("format", ["text", "concise", "json", "github"])
    def test_a_wrong_spec_exits_with_1(self, wrong: Path, format: str) -> None:
        done = tsc("check", str(wrong), "--format", format)
        assert (done.returncode, done.stderr) == (1, "")
        assert "wrong.tsc.yaml" in done.stdout

    def test_sarif_and_exit_zero_exit_with_0(self, wrong: Path) -> None:
        assert tsc("check", str(wrong), "--exit-zero").returncode == 0
        done = tsc("check", str(wrong), "--format", "sarif")
        assert done.returncode == 0
        assert json.loads(done.stdout)["runs"][0]["results"]

    def test_select_and_ignore_decide_the_exit_code(self, wrong: Path) -> None:
        found = {f["code"] for f in json.loads(tsc("check", str(wrong), "--format=json").stdout)["findings"]}
        assert found
        assert tsc("check", str(wrong), "--ignore", ",".join(found)).returncode == 0
        assert tsc("check", str(wrong), "--select", min(found)).returncode == 1

    def test_a_choice_that_chooses_nothing_is_said(self) -> None:
        done = tsc("check", GOOD, "--select", "TSC1,no-such")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "tsc: no rule has the code or the name `no-such`; `tsc rules` lists them\n"

    def test_folder_stands_for_the_specs_below_it(self, tmp_path: Path) -> None:
        (tmp_path / "a" / "b").mkdir(parents=True)
        (tmp_path / "a" / ".hidden").mkdir()
        for name in ("a/b/one.tsc.yaml", "a/.hidden/two.tsc.yaml", "a/three.yaml"):
            (tmp_path / name).write_text(WRONG, encoding="utf-8")
        done = tsc("check", "a", "--format", "json", cwd=tmp_path)
        assert {f["file"] for f in json.loads(done.stdout)["findings"]} == {"a/b/one.tsc.yaml"}

    def test_folder_without_a_spec_is_the_call_at_fault(self, tmp_path: Path) -> None:
        done = tsc("check", "empty", cwd=tmp_path.parent)
        assert done.returncode == 2
        (tmp_path / "empty").mkdir()
        done = tsc("check", "empty", cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr == "tsc: `empty` has no `*.tsc.yaml` or `*.tsc.toml` in it\n"

    def test_one_missing_file_does_not_hide_the_others(self, wrong: Path) -> None:
        done = tsc("check", "no-such.tsc.yaml", str(wrong))
        assert done.returncode == 2
        assert "wrong.tsc.yaml" in done.stdout
        assert done.stderr.count("\n") == 1
        assert "`no-such.tsc.yaml`" in done.stderr

    def test_standard_input_goes_by_its_name(self) -> None:
        done = tsc("check", "-", "--stdin-filename", "mine.tsc.yaml", "--format", "concise", stdin=WRONG)
        assert done.returncode == 1
        assert done.stdout.startswith("mine.tsc.yaml:")

    def test_standard_input_can_be_toml(self) -> None:
        done = tsc("check", "-", "--lang", "toml", "--format", "json", stdin="tsc = 1\n")
        assert "TSC001" not in done.stdout

    def test_findings_go_to_a_file(self, wrong: Path, tmp_path: Path) -> None:
        done = tsc("check", str(wrong), "--format", "json", "--output-file", "out.json", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["version"] == 1

    def test_findings_that_cannot_be_written_are_one_sentence(self, wrong: Path, tmp_path: Path) -> None:
        done = tsc("check", str(wrong), "--output-file", "no/such/out", cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr == "tsc: `no/such/out` cannot be written: the folder `no/such` does not exist\n"

    @pytest.mark.parametrize(("color", "expected"), [("always", True), ("never", False), ("auto", False)])
    def test_colour_is_for_terminals_and_for_who_asks(self, wrong: Path, color: str, expected: bool) -> None:
        assert ("\x1b[" in tsc("check", str(wrong), "--color", color).stdout) is expected
        forced = tsc("check", str(wrong), "--color", color, NO_COLOR="", FORCE_COLOR="1").stdout
        assert ("\x1b[" in forced) is (color != "never")

    def test_values_from_outside_are_checked(self) -> None:
        assert tsc("check", GOOD, "-D", "STAGES=10", "--set", "launch.ctas_per_sm=1").returncode == 0
        assert tsc("check", GOOD, "-DSTAGES=600").returncode == 1
        done = tsc("check", GOOD, "-D", "STAGES")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("tsc: ")


class TestReports:
    def test_tree_has_both_formats(self) -> None:
        assert tsc("tree", GOOD).stdout.startswith("tma_copy: ")
        assert json.loads(tsc("tree", GOOD, "--format", "json").stdout)

    def test_graph_has_both_formats(self) -> None:
        assert tsc("graph", GOOD).stdout.startswith("flowchart ")
        assert tsc("graph", GOOD, "--format", "dot").stdout.startswith("digraph ")

    @pytest.mark.parametrize("command", ["tree", "graph", "emit"])
    def test_what_has_no_program_exits_with_1(self, command: str, tmp_path: Path) -> None:
        (tmp_path / "bad.tsc.yaml").write_text("tsc: [\n", encoding="utf-8")
        done = tsc(command, "bad.tsc.yaml", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert "bad.tsc.yaml:" in done.stderr

    @pytest.mark.parametrize("command", ["tree", "graph", "emit", "build"])
    def test_a_missing_spec_exits_with_2(self, command: str, tmp_path: Path) -> None:
        done = tsc(command, "no-such.tsc.yaml", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
        assert list(tmp_path.iterdir()) == []


class TestRules:
    def test_rules_and_explain_know_the_same_ones(self) -> None:
        listed = json.loads(tsc("rules", "--format", "json").stdout)
        explained = json.loads(tsc("explain", "--all", "--format", "json").stdout)
        assert listed["version"] == explained["version"] == 1
        assert [{k: v for k, v in r.items() if k != "documentation"} for r in explained["rules"]] == listed[
            "rules"
        ]
        assert all(rule["documentation"] for rule in explained["rules"])

    def test_a_rule_answers_to_its_code_and_its_name(self) -> None:
        by_code = tsc("explain", "tsc002").stdout
        assert by_code.startswith("TSC002 duplicate-key (error)\n\n")
        assert tsc("explain", "duplicate-key").stdout == by_code
        assert tsc("explain", "TSC002", "TSC001").stdout.startswith(by_code)

    def test_an_unknown_rule_gets_a_suggestion(self) -> None:
        done = tsc("explain", "duplicat-key")
        assert done.returncode == 2
        assert done.stderr == "tsc: no rule is called `duplicat-key`: did you mean `duplicate-key`?\n"

    def test_a_verb_is_said_to_be_one(self) -> None:
        done = tsc("explain", "tcgen05_mma")
        assert done.returncode == 2
        assert "`tcgen05_mma`, a verb; sections 10 and 11 of docs/language.md have it" in done.stderr

    def test_explain_lists_a_family(self) -> None:
        listed = [line.split() for line in tsc("explain", "tsc19").stdout.splitlines()]
        every = [line.split() for line in tsc("rules").stdout.splitlines()]
        assert listed == [words for words in every if words[0].startswith("TSC19")] != []
        done = tsc("explain", "TSC8")
        assert (done.returncode, done.stderr) == (
            2,
            "tsc: no code begins with `TSC8`; `tsc rules` lists them\n",
        )

    @pytest.mark.parametrize("call", [[], ["--all", "TSC001"]])
    def test_explain_takes_rules_or_all(self, call: list[str]) -> None:
        done = tsc("explain", *call)
        assert done.returncode == 2
        assert done.stderr == "tsc: explain takes the code or name of a rule, or `--all`\n"


@pytest.mark.parametrize(
    ("command", "usage", "argument"),
    [("check", "SPEC...", "SPEC..."), ("explain", "[RULE...]", "RULE..."), ("inspect", "CUBIN", "CUBIN")],
)
def test_help_names_arguments_as_a_manual_does(command: str, usage: str, argument: str) -> None:
    lines = tsc(command, "--help").stdout.splitlines()
    assert lines[0] == f"Usage: tsc {command} [OPTIONS] {usage}"
    named = lines[lines.index("Arguments:") + 1]
    assert named.startswith(f"  {argument}  ") and "<" not in named


def test_schema_is_printed_or_written(tmp_path: Path) -> None:
    printed = tsc("schema").stdout
    assert json.loads(printed)["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert tsc("schema", "-o", "s.json", cwd=tmp_path).stdout == ""
    assert (tmp_path / "s.json").read_text(encoding="utf-8") == printed


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "`k.cubin` does not exist"),
        (b"", "`k.cubin`: the file is empty"),
        (b"\x7fELF\x02\x01", "`k.cubin`: the cubin is cut off: 6 B are less than an ELF header"),
    ],
)
def test_inspect_says_what_is_wrong_with_a_file(content: bytes | None, sentence: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "k.cubin").write_bytes(content)
    done = tsc("inspect", "k.cubin", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"tsc: {sentence}\n")


class TestEmit:
    def test_headers_and_lines_can_be_left_out(self) -> None:
        whole = tsc("emit", "specs/norm/rmsnorm.tsc.yaml").stdout
        assert 'extern "C" __global__' in whole
        assert '"rmsnorm.tsc.yaml"' in whole
        assert "#include" not in whole
        bare = tsc("emit", "specs/norm/rmsnorm.tsc.yaml", "--no-headers", "--no-line").stdout
        assert "#include" in bare
        assert "#line" not in bare

    def test_folder_of_the_call_leaves_no_mark(self, tmp_path: Path) -> None:
        inside = tsc("emit", "rmsnorm.tsc.yaml", cwd=ROOT / "specs" / "norm")
        assert (
            inside.stdout == tsc("emit", str(ROOT / "specs/norm/rmsnorm.tsc.yaml"), cwd=tmp_path).stdout != ""
        )

    def test_a_race_checker_gets_a_kernel_of_its_own(self) -> None:
        spec = "specs/copy/cp_async.tsc.yaml"
        assert tsc("emit", spec, "--sanitize").stdout != tsc("emit", spec).stdout != ""

    def test_a_wrong_spec_prints_nothing_but_its_findings(self, wrong: Path) -> None:
        done = tsc("emit", str(wrong))
        assert (done.returncode, done.stdout) == (1, "")
        assert "wrong.tsc.yaml" in done.stderr
