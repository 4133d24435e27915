"""The driver's codes become sentences, and each code that has one exists."""

from __future__ import annotations

import pytest
from cuda.bindings import driver as bindings

from tsc.runtime.faults import MEANINGS, sentence


def test_every_code_exists() -> None:
    known = {code.name for code in bindings.CUresult}
    assert set(MEANINGS) <= known


@pytest.mark.parametrize("name", MEANINGS)
def test_every_meaning_is_one_sentence(name: str) -> None:
    text = sentence(getattr(bindings.CUresult, name), "do it")
    assert text == f"the driver fails to do it with {name}: {MEANINGS[name]}"
    assert not text.endswith(".")
    assert "\n" not in text


def test_an_unknown_code_keeps_its_name_or_number() -> None:
    assert sentence(bindings.CUresult.CUDA_ERROR_EXTERNAL_DEVICE, "do it") == (
        "the driver fails to do it with CUDA_ERROR_EXTERNAL_DEVICE"
    )
    assert sentence(12345, "do it") == "the driver fails to do it with error 12345"
