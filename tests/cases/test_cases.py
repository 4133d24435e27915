"""What went wrong for others, as specs: each is refused for its cause and at its place, or proved."""

from __future__ import annotations

import re

import pytest

from tests.cases.harness import PROVED, ROOT, SPECS, Case, check, lines_of
from tests.rules.harness import shown


def _marked(case: Case) -> object:
    marks = [pytest.mark.xfail(strict=True, reason=case.waits_for)] if case.waits_for else []
    return pytest.param(case, id=case.name, marks=marks)


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("case", map(_marked, SPECS.values()))
def test_it_is_refused_for_its_cause_or_proved(case: Case) -> None:
    report = check(case.path)
    found = {it.name for it in report.diagnostics}
    assert case.expect <= found <= case.expect | case.also, shown(report.diagnostics)
    pointed = {line for it in report.diagnostics for line in lines_of(it)}
    assert set(case.lines) <= pointed, shown(report.diagnostics)
