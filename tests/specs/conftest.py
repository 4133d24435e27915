"""The fixture `kernel`, which loads shipped kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests import ready


@pytest.fixture(scope="session")
def kernel() -> Callable[..., Any]:
    """Loads a shipped kernel by its spec's path, such as `copy/tma`; constants as keywords.

    `policy` is that of its queue, `tiles`.
    """
    loaded: dict[tuple[str, tuple[tuple[str, int | str], ...]], Any] = {}

    def load(spec: str, **settings: int | str) -> Any:
        key = (spec, tuple(sorted(settings.items())))
        if key not in loaded:
            loaded[key] = ready.shipped(spec, settings)
        return loaded[key]

    return load
