"""A watchdog in the waits leaves matrix products what they are, and so a hang is hunted at full speed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsc.check import Proof, check_file
from tsc.emit import emit
from tsc.emit.headers import body, headers
from tsc.spec.overrides import parse_overrides

pytest.importorskip("cuda.bindings.nvrtc")

from tsc.toolchain.build import compile_source

ROOT = Path(__file__).resolve().parents[2]


def watched(name: str) -> tuple[str, str]:
    changes = parse_overrides([], ["debug.wait_timeout_ms=1000"])
    path = ROOT / f"specs/gemm/{name}.tsc.yaml"
    report = check_file(str(path), overrides=changes, proof=Proof(wanted=False))
    assert report.program is not None
    source = emit(report.program, document=report.document)
    assert "#define WATCHDOG_NS 1000000000ull" in source
    return source, report.program.arch


@pytest.mark.parametrize("name", ["hopper_bf16", "hopper_bf16_simple"])
def test_products_are_not_made_to_wait(name: str) -> None:
    source, arch = watched(name)
    built = compile_source(source, {}, arch)
    assert "trap;" in source and [it.name for it in built.diagnostics] == []


def test_nor_by_waits_for_what_other_ctas_publish() -> None:
    source, arch = watched("hopper_bf16_simple")
    before, extern, kernel = source.partition('extern "C"')
    assert "mbarrier_wait(ab" in kernel
    kernel = kernel.replace("mbarrier_wait(ab", "mbarrier_receive(ab")
    receive = body(headers()["mbarrier_publish.cuh"])
    built = compile_source(f"{before}{receive}\n{extern}{kernel}", {}, arch)
    assert [it.name for it in built.diagnostics] == []
