"""Right schedules of every shape that kernels have: no rule has a word to say about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.harness import ROOT, SPECS, check, shown

ACCEPTED = {path.name.removesuffix(".tsc.yaml"): path for path in sorted((ROOT / SPECS / "accept").iterdir())}


OPEN = "# unproven: "  # the second line of a right schedule that the proof cannot judge yet, and why


def reason(path: Path) -> str:
    line = path.read_text("utf-8").splitlines()[1]
    return line.removeprefix(OPEN) if line.startswith(OPEN) else ""


@pytest.mark.parametrize("spec", ACCEPTED)
def test_right_schedule_is_silent(spec: str) -> None:
    found = check(ACCEPTED[spec].relative_to(ROOT)).diagnostics
    if reason(ACCEPTED[spec]):
        assert [it.name for it in found] == ["unproven"], shown(found)
    else:
        assert shown(found) == []


def test_few_are_unproven() -> None:
    assert [name for name, path in ACCEPTED.items() if reason(path)] == ["every_of_unknown_length"]


def test_each_says_what_it_is() -> None:
    first = {name: Path(path).read_text("utf-8").splitlines()[0] for name, path in ACCEPTED.items()}
    assert [name for name, line in first.items() if not line.startswith("# ")] == []
    assert len(set(first.values())) == len(first) >= 40
