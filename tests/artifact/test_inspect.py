"""What `tsc inspect` is given to show."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable

import pytest

from tsc.artifact.error import ArtifactError
from tsc.artifact.inspect import inspect


def test_json_has_the_manifest_and_the_codes_own_facts(cubin: bytes, sample: dict[str, object]) -> None:
    shown = json.loads(inspect(cubin).to_json())
    assert {key: shown[key] for key in sample} == sample
    assert shown["version"] == 1
    assert shown["registers"] > 0
    assert shown["static_smem_bytes"] == 384
    assert shown["stack_bytes"] == 0
    assert shown["named_barriers"] == 1
    assert shown["parameters"] == [{"offset": 0, "size": 8}, {"offset": 8, "size": 4}]
    assert shown["cubin_sha256"] == hashlib.sha256(cubin).hexdigest()
    assert shown["cubin_bytes"] == len(cubin)
    assert re.fullmatch(r"V\d+\.\d+\.\d+", shown["assembler"])


def test_text_is_readable(cubin: bytes, golden: Callable[..., None]) -> None:
    text = inspect(cubin).to_text()
    text = re.sub(r"V\d+\.\d+\.\d+", "V(version)", text)
    text = re.sub(r"[\d,]+ B \(sha256 [0-9a-f]{16}\)", "(size) B (sha256 (hash))", text)
    text = re.sub(r"\d+ a thread", "(count) a thread", text)
    golden(text)


def test_bytes_that_are_no_cubin_are_refused() -> None:
    with pytest.raises(ArtifactError, match="not an ELF file"):
        inspect(b"no cubin")
