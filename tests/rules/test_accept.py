"""Right schedules of every shape that kernels have: no rule has a word to say about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.harness import ROOT, SPECS, check, shown

ACCEPTED = {path.name.removesuffix(".tsc.yaml"): path for path in sorted((ROOT / SPECS / "accept").iterdir())}


@pytest.mark.parametrize("spec", ACCEPTED)
def test_right_schedule_is_silent(spec: str) -> None:
    assert shown(check(ACCEPTED[spec].relative_to(ROOT)).diagnostics) == []


def test_each_says_what_it_is() -> None:
    first = {name: Path(path).read_text("utf-8").splitlines()[0] for name, path in ACCEPTED.items()}
    assert [name for name, line in first.items() if not line.startswith("# ")] == []
    assert len(set(first.values())) == len(first) >= 40
