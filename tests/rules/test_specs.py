"""Every rule finds what it is for, alone, says it in these words, and leaves the mended spec in peace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rules.harness import (
    BAD,
    CHECKED,
    GOOD,
    PATTERNS,
    ROOT,
    SPECS,
    WITH_SPECS,
    check,
    rendered,
    shown,
)

SHIPPED = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "specs").rglob("*.tsc.*"))


@pytest.mark.parametrize("spec", BAD)
def test_bad_spec_breaks_its_rule_alone(spec: str) -> None:
    pattern, path = BAD[spec]
    found = check(path).diagnostics
    assert {it.code for it in found} == {pattern.rule.code}, shown(found)


@pytest.mark.parametrize("spec", GOOD)
def test_good_twin_is_silent(spec: str) -> None:
    assert shown(check(GOOD[spec]).diagnostics) == []


@pytest.mark.parametrize("rule", WITH_SPECS)
def test_what_is_said(rule: str, golden: Callable[..., None]) -> None:
    golden("\n".join(rendered(check(path)) for path in WITH_SPECS[rule].bad))


@pytest.mark.parametrize("rule", CHECKED)
def test_rule_has_specs(rule: str) -> None:
    pattern = CHECKED[rule]
    assert pattern.bad and pattern.good, f"{pattern.folder} has no bad and good spec"


def test_folders_belong_to_rules() -> None:
    known = {str(pattern.folder) for pattern in PATTERNS}
    known |= {str(SPECS / folder) for folder in ("accept", "mistakes")}  # with tests of their own
    there = {str(path.parent.relative_to(ROOT)) for path in (ROOT / SPECS).rglob("*.tsc.*")}
    assert there <= known


@pytest.mark.parametrize("spec", SHIPPED)
def test_shipped_spec_is_silent(spec: str) -> None:
    assert shown(check(Path(spec)).diagnostics) == []
