"""The check as a whole: what it says, in which order, what it leaves out, and what it costs to import."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.spec.base import BASE, edited
from tsc import check as module
from tsc.check import Report, RuleFailure, check_file, check_reading, select, unknown_choices
from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program
from tsc.rules.registry import MODULES, RULES, by_name, checks, documentation
from tsc.source import ReadError, parse
from tsc.spec.overrides import Overrides, parse_overrides

ROOT = Path(__file__).resolve().parents[2]


def check(text: str, defines: list[str] | None = None, settings: list[str] | None = None) -> Report:
    overrides = parse_overrides(defines or [], settings or [])
    return check_reading(parse(text, "spec.tsc.yaml", "yaml"), overrides)


def said(report: Report) -> list[str]:
    return [f"{it.span.start.line}:{it.span.start.column} {it.code} {it.name}" for it in report.diagnostics]


def test_a_right_spec_is_silent() -> None:
    report = check(BASE)
    assert said(report) == [] and report.exit_code() == 0
    assert report.document is not None and report.spec is not None and report.program is not None
    assert report.sources == {"spec.tsc.yaml": BASE}


def test_a_file_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "scale.tsc.yaml"
    path.write_text(edited(("policy: static", "policy: statik")), encoding="utf-8")
    report = check_file(str(path))
    (it,) = report.diagnostics
    assert (it.code, it.name, it.severity, it.file) == ("TSC013", "wrong-choice", Severity.ERROR, str(path))
    assert it.message == "`policy` is one of `grid`, `static`, `atomic` and `clc`, and this is `statik`"
    assert it.help == "did you mean `static`?"
    assert it.route == ("resources", "tiles", "policy")
    assert report.text[it.span.start.offset : it.span.end.offset] == "statik"
    assert report.exit_code() == 1 and report.program is None and report.spec is None


def test_standard_input_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BASE.encode())))
    assert check_file("-", stdin_name="piped.tsc.yaml").sources == {"piped.tsc.yaml": BASE}


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="does not exist"):
        check_file(str(tmp_path / "none.tsc.yaml"))


def test_a_text_that_cannot_be_read_has_no_document() -> None:
    report = check("tsc: [1\n")
    assert [it.name for it in report.diagnostics] == ["bad-syntax"]
    assert report.document is None and report.exit_code() == 1


def test_reader_and_models_speak_in_one_run_by_place() -> None:
    text = edited(
        ("policy: static", "policy: statik"),
        ("  y: {", "  y: !t {"),
        ("kernel: scale", "kernle: scale"),
        ("warps: 1", "warps: 1, 2"),
    )
    assert said(check(text)) == [
        "2:1 TSC010 unknown-key",
        "7:6 TSC003 unsupported-yaml",
        "10:32 TSC013 wrong-choice",
        "15:13 TSC014 bad-expression",
    ]


def test_pieces_of_a_cut_expression_are_no_second_problem() -> None:
    text = edited(("m_tiles: 'cdiv(m, ROWS)', n_tiles: 'cdiv(n, 64)'", "a: cdiv(m, ROWS), b: cdiv(n, ROWS)"))
    assert [it.name for it in check(text).diagnostics] == ["cut-expression", "cut-expression"]


def test_an_alias_repeats_nothing() -> None:
    text = edited(
        ("  x: {dtype: bf16, shape: [m, n]}", "  x: &t {dtype: bf61, shape: [m, n]}"),
        ("  y: {dtype: bf16, shape: [m, n]}", "  y: *t"),
    )
    assert said(check(text)) == ["6:17 TSC013 wrong-choice"]


def test_a_value_from_outside_is_shown_at_its_key() -> None:
    (it,) = check(BASE, settings=["resources.tiles.policy=clk"]).diagnostics
    assert it.label == "set by `--set resources.tiles.policy=clk`"
    assert it.span.start.column == 24 and it.span.end.column == 30  # `policy`
    (it,) = check(BASE, settings=["launch.ctas=[1]"]).diagnostics
    assert (it.span.start.line, it.label) == (1, "set by `--set launch.ctas=[1]`")


def test_a_comment_silences_what_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    add_rule(monkeypatch, Rule("TSC399", "any-wait", Severity.ERROR, "s"), waits)
    assert said(check(BASE)) == ["27:13 TSC399 any-wait"]
    assert said(check(BASE.replace("- wait: ring", "- wait: ring  # tsc: ignore[any-wait]"))) == []
    unused = check(BASE.replace("warps: 1", "warps: 1  # tsc: ignore[any-wait]", 1))
    assert said(unused) == ["15:29 TSC007 unused-ignore", "27:13 TSC399 any-wait"]


def test_a_comment_for_a_rule_that_did_not_run_is_not_unused() -> None:
    text = edited(("policy: static", "policy: statik"), ("warps: 1", "warps: 1  # tsc: ignore[unknown-name]"))
    assert said(check(text)) == ["10:32 TSC013 wrong-choice"]


def test_diagnostics_are_chosen_by_code_prefix_and_name(monkeypatch: pytest.MonkeyPatch) -> None:
    add_rule(monkeypatch, Rule("TSC399", "any-wait", Severity.ERROR, "s"), waits)
    add_rule(monkeypatch, Rule("TSC398", "any-step", Severity.WARNING, "s"), waits)
    add_rule(monkeypatch, Rule("TSC799", "some-advice", Severity.ADVICE, "s"), waits)
    report = check(BASE)
    names = [
        ((), (), ["any-step", "any-wait"]),
        (("TSC3",), (), ["any-step", "any-wait"]),
        (("TSC399",), (), ["any-wait"]),
        (("any-step",), (), ["any-step"]),
        (("tsc399", "any-step"), (), ["any-step", "any-wait"]),
        ((), ("any-wait",), ["any-step"]),
        (("TSC3",), ("TSC398",), ["any-wait"]),
        (("TSC7",), (), ["some-advice"]),
        (("TSC",), (), ["any-step", "any-wait", "some-advice"]),
        (("TSC1",), (), []),
    ]
    for chosen, ignored, expected in names:
        assert [it.name for it in select(report, chosen, ignored).diagnostics] == expected
    assert unknown_choices(["TSC3", "any-wait", "TSC010", "unknown-key", "TSC9", "waits"]) == [
        "TSC9",
        "waits",
    ]


def test_the_exit_code_weighs_what_was_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    add_rule(monkeypatch, Rule("TSC398", "any-step", Severity.WARNING, "s"), waits)
    add_rule(monkeypatch, Rule("TSC799", "some-advice", Severity.ADVICE, "s"), waits)
    report = check(BASE)
    codes = [report.exit_code(least) for least in ("error", "warning", "advice")]
    assert codes == [0, 1, 1]
    advice = select(report, ["TSC7"])
    assert [advice.exit_code(least) for least in ("error", "warning", "advice")] == [0, 0, 1]


def test_a_finding_of_each_copy_is_shown_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(program: Program) -> Iterator[Finding]:
        yield from waits(program)
        yield from waits(program)

    add_rule(monkeypatch, Rule("TSC399", "any-wait", Severity.ERROR, "s"), twice)
    assert said(check(BASE)) == ["27:13 TSC399 any-wait"]


def test_a_rule_that_raises_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(program: Program) -> Iterator[Finding]:
        yield from waits(program)
        raise KeyError("ring")

    add_rule(monkeypatch, Rule("TSC399", "any-wait", Severity.ERROR, "s"), broken)
    with pytest.raises(RuleFailure) as caught:
        check(BASE)
    assert str(caught.value) == "the rule TSC399 any-wait failed on this spec: KeyError: 'ring'"


def test_a_finding_of_an_unknown_rule_is_a_fault_of_the_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    add_rule(monkeypatch, Rule("TSC399", "any-wait", Severity.ERROR, "s"), waits)
    monkeypatch.setattr(module, "by_name", lambda name: None)
    with pytest.raises(RuleFailure, match="a finding names the rule `any-wait`, which does not exist"):
        check(BASE)


def waits(program: Program) -> Iterator[Finding]:
    """A finding for each `wait`, by the name that `add_rule` puts there."""
    for task in program.tasks:
        for step in task.steps():
            if step.verb == "wait" and not step.derived:
                yield Finding("any-wait", "this waits", Place(step.route))


def add_rule(
    monkeypatch: pytest.MonkeyPatch, rule: Rule, run: Callable[[Program], Iterator[Finding]]
) -> None:
    """Let the check know one more rule."""

    def renamed(program: Program) -> Iterator[Finding]:
        for finding in run(program):
            yield Finding(rule.name, finding.message, finding.place)

    known, before, find = module.RULES, module.checks, module.by_name
    monkeypatch.setattr(module, "RULES", (*known, rule))
    monkeypatch.setattr(
        module,
        "checks",
        lambda **which: before(**which) if which else (*before(), (rule, renamed)),
    )
    monkeypatch.setattr(module, "by_name", lambda name: rule if name == rule.name else find(name))


def test_the_registry_knows_its_rules() -> None:
    assert [rule.code for rule in RULES] == sorted(rule.code for rule in RULES)
    assert by_name("TSC010") is by_name("unknown-key") is not None
    assert by_name("none") is None
    assert documentation(RULES[0]).startswith("The text is not well-formed YAML or TOML.\n")
    every = (*checks(), *checks(sound=True), *checks(proof=True))
    assert {rule.name for rule, _ in every} == {m.RULE.name for m in MODULES if hasattr(m, "check")}


def test_the_check_imports_no_other_stage() -> None:
    program = (
        "import sys\n"
        "from tsc.check import check_file\n"
        "assert check_file('specs/copy/tma.tsc.yaml').exit_code() == 0\n"
        "heavy = {'cuda', 'numpy', 'jinja2', 'typer', 'tsc.emit.render', 'tsc.toolchain', 'tsc.runtime'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_overrides_reach_the_program() -> None:
    report = check(BASE, defines=["ROWS=128"])
    assert report.program is not None and report.program.constants["ROWS"] == 128
    assert check_reading(parse(BASE, "s", "yaml"), Overrides()).program is not None
