"""The tests of the rules run at the root, so that a diagnostic names its spec by the same path everywhere."""

from __future__ import annotations

import pytest

from tests.rules.harness import ROOT


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
