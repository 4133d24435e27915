"""All of these tests need NVRTC, which no GPU and no driver stands behind."""

from __future__ import annotations

import pytest

pytest.importorskip("cuda.bindings.nvrtc")
