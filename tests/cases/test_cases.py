"""What went wrong for others, as specs: each is refused for its cause and at its place, or proved."""

from __future__ import annotations

import re

import pytest

from tests.cases.harness import ROOT, SPECS, Case, check, lines_of
from tests.cases.index import INDEX, NOT_LISTED
from tests.rules.harness import shown

LAST = 126


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("case", list(SPECS.values()), ids=list(SPECS))
def test_it_is_refused_for_its_cause_or_proved(case: Case) -> None:
    report = check(case.path)
    found = {it.name for it in report.diagnostics}
    assert found == case.expect, shown(report.diagnostics)
    if not case.expect:
        assert report.judgement is not None and report.judgement.outcome == "proved"
    pointed = {line for it in report.diagnostics for line in lines_of(it)}
    assert set(case.lines) <= pointed, shown(report.diagnostics)


@pytest.mark.parametrize("case", list(SPECS.values()), ids=list(SPECS))
def test_it_says_what_it_is(case: Case) -> None:
    lines = case.path.read_text("utf-8").splitlines()
    header = [line for line in lines if line.startswith("# ")]
    source = next(i for i, line in enumerate(header) if line.startswith("# Source: "))
    assert lines[0] == header[0] and header[source - 1].endswith("."), "a sentence, then where it is from"
    assert bool(case.expect) == case.path.name.startswith("bad"), "a bad spec expects rules, a good one proof"


def test_no_case_is_forgotten() -> None:
    assert sorted([*INDEX, *NOT_LISTED]) == list(range(1, LAST + 1))
    assert {entry.folder for entry in INDEX.values() if entry.folder} == {
        case.path.parent.name for case in SPECS.values()
    }
    assert [number for number, it in INDEX.items() if not (it.folder or it.tests or it.why)] == []
    assert [number for number, it in INDEX.items() if not it.folder and not it.why] == []


def test_tests_that_are_named_exist() -> None:
    missing = []
    for name in sorted({test for entry in INDEX.values() for test in entry.tests}):
        file, function = name.split("::")
        path = ROOT / "tests" / file
        if not path.is_file() or not re.search(rf"^def {function}\(", path.read_text("utf-8"), re.M):
            missing.append(name)
    assert missing == []
