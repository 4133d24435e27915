"""A watchdog in the waits leaves matrix products what they are, and so a hang is hunted at full speed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsc.check import Proof, check_file
from tsc.emit import emit
from tsc.spec.overrides import parse_overrides

pytest.importorskip("cuda.bindings.nvrtc")

from tsc.toolchain.build import compile_source

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["hopper_bf16", "hopper_bf16_simple"])
def test_products_are_not_made_to_wait(name: str) -> None:
    changes = parse_overrides([], ["debug.wait_timeout_ms=1000"])
    path = ROOT / f"specs/gemm/{name}.tsc.yaml"
    report = check_file(str(path), overrides=changes, proof=Proof(wanted=False))
    assert report.program is not None
    source = emit(report.program, document=report.document)
    assert "#define WATCHDOG_NS 1000000000ull" in source
    built = compile_source(source, {}, report.program.arch)
    assert "trap;" in source and [it.name for it in built.diagnostics] == []
