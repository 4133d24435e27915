"""A kernel whose fragments have a row a thread, as it is emitted and compiled; no GPU here runs it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.codegen.headers import HEADERS
from tests.codegen.machine_code import disassembled, words
from tests.emit.kernels import cuda, document
from tests.emit.test_tensor_moves import LD, RELEASE, spec
from tsc.check import check_reading
from tsc.source import parse
from tsc.spec.overrides import parse_overrides
from tsc.toolchain.build import Built, compile_source
from tsc.toolchain.nvrtc import CompileOptions, compile_cuda

pytest.importorskip("cuda.bindings.nvrtc")

ARCHS = ("sm_100a", "sm_103a")
LANES = (Path(__file__).parent / "tensor_cases" / "lanes.tsc.yaml").read_text(encoding="utf-8")


def built(text: str, arch: str) -> Built:
    """What the compiler makes of a spec, without a word and without local memory."""
    made = compile_source(cuda(document(text)), {}, arch)
    assert made.diagnostics == ()
    assert (made.usage.spill_stores, made.usage.spill_loads, made.usage.stack_bytes) == (0, 0, 0)
    return made


def test_the_spec_is_sound() -> None:
    report = check_reading(parse(LANES, "lanes.tsc.yaml", "yaml"), parse_overrides((), ()))
    assert [it.message for it in report.found] == []


def test_the_text(golden: Callable[..., None]) -> None:
    golden(cuda(document(LANES, "lanes.tsc.yaml"), headers=False), ".cu")


@pytest.mark.parametrize("arch", ARCHS)
def test_machine_code(arch: str, tmp_path: Path) -> None:
    """Each load of a part and each store is one instruction; a store is complete before its arrival."""
    found = words(disassembled(built(LANES, arch).cubin, tmp_path))
    assert (found.count("LDTM"), found.count("STTM")) == (5, 1)
    assert not {"LDL", "STL"} & set(found)
    first = found.index("STTM")
    assert "FENCE" in found[first : found.index("SYNCS", first)]


ROUNDS = "for: k\nas: j\nbody: [{do: twice}, {store: y, from: f, at: [0, j * 32]}, " + LD + "]"


@pytest.mark.parametrize(
    ("text", "number"),
    [(LANES, 5), (spec(LD, ROUNDS, "{store: y, from: f}", RELEASE), 2)],
    ids=["", "rounds"],
)
def test_a_wait_stands_between_each_load_and_what_it_is_for(text: str, number: int) -> None:
    """In the PTX: no register that a load writes is read before the wait, and no arrival comes between."""
    options = CompileOptions(extra=("--no-cache",))
    ptx = compile_cuda(cuda(document(text)), arch="sm_100a", headers=HEADERS, options=options).ptx
    pending: set[str] = set()
    loads = 0
    for line in ptx.splitlines():
        if "tcgen05.ld." in line:
            pending |= set(re.findall(r"%\w+", line.split("[")[0]))
            loads += 1
        elif "tcgen05.wait::ld" in line:
            pending.clear()
        elif pending:
            assert "mbarrier.arrive" not in line, line
            assert not pending & set(re.findall(r"%\w+", line)), line
    assert loads == number
