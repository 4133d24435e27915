"""The instructions of pairs of CTAs: each form assembles for both targets and is the one that is meant."""

from __future__ import annotations

import re

import pytest

from tests.codegen.headers import compiled, includes, notes
from tests.codegen.test_instructions import COORDINATES
from tsc.toolchain.nvrtc import Rejected

ARCHS = ("sm_100a", "sm_103a")
PARAMETERS = "const __grid_constant__ TensorMap map, u32 s, u32 b, int x, i64 y, u16 mask"
LOAD = ".cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes"


def ptx_of(body: str, arch: str) -> str:
    text = includes("tensor_memory", "tma_load_pair")
    result = compiled(f'{text}extern "C" __global__ void kernel({PARAMETERS}) {{\n{body}\n}}\n', arch)
    assert notes(result.log) == []
    return result.ptx


@pytest.mark.parametrize("arch", ARCHS)
def test_loads_have_every_form_in_every_rank(arch: str) -> None:
    lines = [
        f"tma_load_pair{more}{cache}(s, map, b{', mask' if more else ''}, {at});"
        for at in COORDINATES
        for cache in ("", "<CACHE_EVICT_FIRST>")
        for more in ("", "_multicast")
    ]
    ptx = ptx_of("\n".join(lines), arch)
    for rank in range(1, 6):
        where = r"\[%r\d+\], \[%rd\d+, \{" + ", ".join([r"%r\d+"] * rank) + r"\}\], \[%r\d+\]"
        forms = (
            rf"{LOAD} {where};",
            rf"{LOAD}\.L2::cache_hint {where}, %rd\d+;",
            rf"{LOAD}\.multicast::cluster {where}, %rs\d+;",
            rf"{LOAD}\.multicast::cluster\.L2::cache_hint {where}, %rs\d+, %rd\d+;",
        )
        for form in forms:
            assert len(re.findall(rf"cp\.async\.bulk\.tensor\.{rank}d{form}", ptx)) == 1


@pytest.mark.parametrize("arch", ARCHS)
def test_loads_signal_at_the_even_cta(arch: str) -> None:
    ptx = ptx_of("tma_load_pair(s, map, b, x); tma_load_pair_multicast(s, map, b, mask, x);", arch)
    masked = re.findall(r"and\.b32\s+(%r\d+), %r\d+, -16777217;", ptx)
    assert {0xFEFFFFFF} == {(-16777217) % 2**32}
    barriers = re.findall(rf"{LOAD}\S* \[%r\d+\], \[%rd\d+, \{{%r\d+\}}\], \[(%r\d+)\]", ptx)
    assert len(barriers) == 2 and set(barriers) <= set(masked)


@pytest.mark.parametrize("arch", ARCHS)
def test_tensor_memory_is_taken_and_given_back_in_pairs(arch: str) -> None:
    ptx = ptx_of("tensor_allocate<256, 2>(s); tcgen05_commit<2>(b, mask); tensor_free<256, 2>(s);", arch)
    found = re.findall(r"tcgen05\.[\w.:]+", ptx)
    assert found == [
        "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32",
        "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned",
        "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64",
        "tcgen05.dealloc.cta_group::2.sync.aligned.b32",
    ]


@pytest.mark.parametrize("columns", [0, 16, 48, 96, 1024])
def test_columns_are_a_power_of_two_that_there_is(columns: int) -> None:
    with pytest.raises(Rejected) as rejected:
        ptx_of(f"tensor_allocate<{columns}, 2>(s);", "sm_100a")
    assert "in powers of two, 32 to 512 columns" in rejected.value.log


@pytest.mark.parametrize(
    "body",
    [
        "tcgen05_commit<2>(b); tcgen05_commit<1>(b);",
        "tensor_allocate<256, 2>(s); tensor_free<256, 1>(s);",
    ],
)
def test_one_kernel_has_one_group(body: str) -> None:
    with pytest.raises(Rejected) as rejected:
        ptx_of(body, "sm_100a")
    assert "cta_group" in rejected.value.log
