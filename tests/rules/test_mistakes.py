"""What newcomers get wrong, and all that `tsc check` prints about it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.rules.harness import ROOT, SPECS, check, rendered

MISTAKES = {
    path.name.removesuffix(".tsc.yaml"): path for path in sorted((ROOT / SPECS / "mistakes").iterdir())
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_is_explained(mistake: str, golden: Callable[..., None]) -> None:
    report = check(MISTAKES[mistake].relative_to(ROOT))
    assert report.diagnostics
    golden(rendered(report))
