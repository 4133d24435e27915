"""Instructions of the queue: a counter that wraps, answers sent to a cluster, and cluster launch control."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.codegen.headers import ARCHS, compiled, includes, notes

PARAMETERS = "u32 a, u32 b, u32 units, u32* counter, int* out"


def built(header: str, body: str, arch: str) -> tuple[str, bytes]:
    """The PTX and the cubin of a kernel of one statement."""
    text = f'{includes(header)}extern "C" __global__ void kernel({PARAMETERS}) {{\n{body}\n}}\n'
    result = compiled(text, arch)
    assert notes(result.log) == []
    return result.ptx, result.cubin


@pytest.mark.parametrize("arch", ARCHS)
def test_the_counter_wraps_by_itself(arch: str) -> None:
    ptx, _ = built("queue", "*out = next_unit(counter, units, gridDim.x);", arch)
    assert len(re.findall(r"atom\.relaxed\.gpu\.global\.inc\.u32 %r\d+, \[%rd\d+\], %r\d+;", ptx)) == 1
    assert "st.relaxed" not in ptx and ptx.count("st.") == 1


@pytest.mark.parametrize("arch", ARCHS)
def test_an_answer_goes_to_every_cta_with_the_arrival_that_announces_it(arch: str) -> None:
    ptx, _ = built("queue", "send_answer<3>(a, b, 7); write_answer(a, 8); *out = read_answer(a);", arch)
    sent = r"st\.async\.weak\.shared::cluster\.mbarrier::complete_tx::bytes\.s32 \[%r\d+\], %r\d+, \[%r\d+\];"
    armed = r"mbarrier\.arrive\.expect_tx\.shared::cluster\.b64 _, \[%r\d+\], %r\d+;"
    count = len(re.findall(sent, ptx))
    assert count == len(re.findall(armed, ptx)) and count in (1, 3)  # unrolled or not
    assert len(re.findall(r"mapa\.shared::cluster\.u32", ptx)) == 2 * count
    assert "st.shared.s32" in ptx and "ld.shared.s32" in ptx


CANCEL = r"clusterlaunchcontrol\.try_cancel\.async\.shared::cta\.mbarrier::complete_tx::bytes"


def test_the_hardware_is_asked_for_one_cluster() -> None:
    ptx, _ = built("launch_control", "request_tile<1>(a, b);", "sm_100a")
    assert len(re.findall(rf"{CANCEL}\.b128 \[%r\d+\], \[%r\d+\];", ptx)) == 1
    assert len(re.findall(r"mbarrier\.arrive\.expect_tx\.shared::cta\.b64 _, \[%r\d+\], %r\d+;", ptx)) == 1
    ptx, _ = built("launch_control", "request_tile<2>(a, b);", "sm_100a")
    assert len(re.findall(rf"{CANCEL}\.multicast::cluster::all\.b128 \[%r\d+\], \[%r\d+\];", ptx)) == 1
    assert "mbarrier.arrive.expect_tx.shared::cluster.b64" in ptx


def test_an_answer_of_the_hardware_is_decoded() -> None:
    ptx, _ = built("launch_control", "*out = granted_unit(a, 2);", "sm_100a")
    for form in (
        "ld.shared.b128 given",
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 some, given;",
        "@some clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128",
    ):
        assert ptx.count(form) == 1, form


@pytest.mark.parametrize(("ctas", "form"), [(1, "UGETNEXTWORKID.SELFCAST"), (2, "UGETNEXTWORKID.BROADCAST")])
def test_the_machine_code_asks_once(ctas: int, form: str, tmp_path: Path) -> None:
    _, cubin = built("launch_control", f"request_tile<{ctas}>(a, b);", "sm_100a")
    words = re.findall(r"\b(UGETNEXTWORKID\S*)", disassembled(cubin, tmp_path))
    assert words == [form]


def disassembled(cubin: bytes, folder: Path) -> str:
    """The machine code as text, where the disassembler is installed."""
    found = shutil.which("nvdisasm")
    package = find_spec("nvidia")
    for place in (package.submodule_search_locations or ()) if package is not None else ():
        found = found or next(map(str, Path(place).glob("*/bin/nvdisasm")), None)
    if found is None:
        pytest.skip("nvdisasm is not installed (pip install nvidia-cuda-nvdisasm)")
    path = folder / "kernel.cubin"
    path.write_bytes(cubin)
    return subprocess.run([found, "-c", str(path)], capture_output=True, text=True, check=True).stdout
