"""The wrappers of single instructions: each form assembles for every target and is the one that is meant."""

from __future__ import annotations

import re

import pytest

from tests.codegen.headers import ARCHS, compiled, includes, notes

ALL = includes(
    "bulk", "cluster", "cp_async", "fences", "mbarrier", "threads", "tma_load", "tma_prefetch", "tma_store"
)
PARAMETERS = "const __grid_constant__ TensorMap map, u32 s, u32 b, int x, i64 y, char* g, u16 mask, u32* out"
COORDINATES = ["x", "x, y", "x, y, -1", "x, y, 3, 4", "x, y, 3, y, 5"]


def ptx_of(body: str, arch: str) -> str:
    result = compiled(f'{ALL}extern "C" __global__ void kernel({PARAMETERS}) {{\n{body}\n}}\n', arch)
    assert notes(result.log) == []
    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in result.log
    return result.ptx


def tma_body() -> str:
    lines = ["tma_prefetch_map(map);"]
    for at in COORDINATES:
        for cache in ("", "<CACHE_EVICT_FIRST>"):
            lines += [
                f"tma_load{cache}(s, map, b, {at});",
                f"tma_load_multicast{cache}(s, map, b, mask, {at});",
                f"tma_store{cache}(map, s, {at});",
                f"tma_prefetch{cache}(map, {at});",
            ]
        lines += [f"tma_reduce<REDUCE_{name}>(map, s, {at});" for name in ("ADD", "MIN", "MAX")]
    return "\n".join(lines)


LOAD = ".shared::cluster.global.mbarrier::complete_tx::bytes"
STORE = ".global.shared::cta"


@pytest.mark.parametrize("arch", ARCHS)
def test_tma_has_every_form_in_every_rank(arch: str) -> None:
    ptx = ptx_of(tma_body(), arch)
    assert ptx.count("prefetch.tensormap") == 1
    for rank in range(1, 6):
        at = r"\{" + ", ".join([r"%r\d+"] * rank) + r"\}"
        forms = {
            rf"cp.async.bulk.tensor.{rank}d{LOAD} \[%r\d+\], \[%rd\d+, {at}\], \[%r\d+\];",
            rf"cp.async.bulk.tensor.{rank}d{LOAD}.L2::cache_hint "
            rf"\[%r\d+\], \[%rd\d+, {at}\], \[%r\d+\], %rd\d+;",
            rf"cp.async.bulk.tensor.{rank}d{LOAD}.multicast::cluster "
            rf"\[%r\d+\], \[%rd\d+, {at}\], \[%r\d+\], %rs\d+;",
            rf"cp.async.bulk.tensor.{rank}d{LOAD}.multicast::cluster.L2::cache_hint "
            rf"\[%r\d+\], \[%rd\d+, {at}\], \[%r\d+\], %rs\d+, %rd\d+;",
            rf"cp.async.bulk.tensor.{rank}d{STORE}.bulk_group \[%rd\d+, {at}\], \[%r\d+\];",
            rf"cp.async.bulk.tensor.{rank}d{STORE}.bulk_group.L2::cache_hint "
            rf"\[%rd\d+, {at}\], \[%r\d+\], %rd\d+;",
            rf"cp.async.bulk.prefetch.tensor.{rank}d.L2.global.tile \[%rd\d+, {at}\];",
            rf"cp.async.bulk.prefetch.tensor.{rank}d.L2.global.tile.L2::cache_hint \[%rd\d+, {at}\], %rd\d+;",
            *(rf"cp.reduce.async.bulk.tensor.{rank}d{STORE}.{op}.bulk_group" for op in ("add", "min", "max")),
        }
        for form in forms:
            assert len(re.findall(form, ptx)) == 1, form


@pytest.mark.parametrize("arch", ARCHS)
def test_policies_are_those_of_createpolicy(arch: str) -> None:
    body = "".join(
        f"tma_load<CACHE_{name}>(s, map, b, x);\n" for name in ("EVICT_FIRST", "EVICT_LAST", "NO_ALLOCATE")
    )
    constants = re.findall(r"mov\.[ub]64\s+%rd\d+, (-?\d+);", ptx_of(body, arch))
    assert {f"{int(value):016x}" for value in constants} == {"12f0000000000000", "14f0000000000000"}


@pytest.mark.parametrize("arch", ARCHS)
def test_bulk_copies_of_no_bytes_issue_nothing(arch: str) -> None:
    ptx = ptx_of("bulk_load(s, g, 0, b); bulk_store(g, s, 0); bulk_prefetch(g, 0);", arch)
    assert "cp.async.bulk" not in ptx
    ptx = ptx_of(
        """
bulk_load(s, g, x, b);
bulk_load<CACHE_EVICT_FIRST>(s, g, 1024, b);
bulk_load_multicast(s, g, 1024, b, mask);
bulk_store(g, s, x);
bulk_store<CACHE_EVICT_LAST>(g, s, 1024);
bulk_prefetch(g, 1024);
bulk_commit();
bulk_wait_read<2>();
bulk_wait<0>();
""",
        arch,
    )
    for form in (
        f"cp.async.bulk{LOAD} [",
        f"cp.async.bulk{LOAD}.L2::cache_hint [",
        f"cp.async.bulk{LOAD}.multicast::cluster.L2::cache_hint [",
        f"cp.async.bulk{STORE}.bulk_group [",
        f"cp.async.bulk{STORE}.bulk_group.L2::cache_hint [",
        "cp.async.bulk.prefetch.L2.global [",
        "cp.async.bulk.commit_group;",
        "cp.async.bulk.wait_group.read 2;",
        "cp.async.bulk.wait_group 0;",
    ):
        assert ptx.count(form) == 1, form
    assert "setp" in ptx
    assert "setp" not in ptx_of("bulk_load(s, g, 1024, b); bulk_store(g, s, 1024);", arch)


@pytest.mark.parametrize("arch", ARCHS)
def test_barriers_and_fences(arch: str) -> None:
    ptx = ptx_of(
        """
mbarrier_init(b, 3);
mbarrier_init_fence();
mbarrier_arrive(b);
mbarrier_arrive(b, 4);
mbarrier_arrive_expect(b, 512);
mbarrier_expect(b, x);
mbarrier_arrive_cp_async(b);
mbarrier_arrive_cluster(cluster_address(b, cluster_rank()));
const bool ready = mbarrier_try_wait(b, 0);
mbarrier_wait(b, 0, ready);
mbarrier_wait(b + 8, x & 1);
mbarrier_invalidate(b);
fence_proxy_async();
fence_proxy_async_global();
fence_cta();
fence_gpu();
""",
        arch,
    )
    for form in (
        r"mbarrier\.init\.shared::cta\.b64 \[%r\d+\], %r\d+;",
        r"fence\.mbarrier_init\.release\.cluster;",
        r"mbarrier\.arrive\.shared::cta\.b64 _, \[%r\d+\];",
        r"mbarrier\.arrive\.shared::cta\.b64 _, \[%r\d+\], %r\d+;",
        r"mbarrier\.arrive\.expect_tx\.shared::cta\.b64 _, \[%r\d+\], %r\d+;",
        r"mbarrier\.expect_tx\.relaxed\.cta\.shared::cta\.b64 \[%r\d+\], %r\d+;",
        r"cp\.async\.mbarrier\.arrive\.noinc\.shared::cta\.b64 \[%r\d+\];",
        r"mapa\.shared::cluster\.u32",
        r"mbarrier\.arrive\.shared::cluster\.b64 _, \[%r\d+\];",
        r"mbarrier\.inval\.shared::cta\.b64 \[%r\d+\];",
        r"fence\.proxy\.async\.shared::cta;",
        r"fence\.proxy\.async\.global;",
        r"fence\.acq_rel\.cta;",
        r"fence\.acq_rel\.gpu;",
    ):
        assert len(re.findall(form, ptx)) == 1, form
    assert ptx.count("mbarrier.try_wait.parity.shared::cta.b64") == 3
    assert ".release.cluster.shared" not in ptx


@pytest.mark.parametrize("arch", ARCHS)
def test_cluster_and_dependent_launch(arch: str) -> None:
    body = "cluster_sync_relaxed(); grid_dependency_wait(); grid_dependents_launch(); cluster_sync();"
    ptx = ptx_of(body, arch)
    assert ptx.count("barrier.cluster.arrive.relaxed.aligned;") == 1
    assert ptx.count("barrier.cluster.arrive.release.aligned;") == 1
    assert ptx.count("barrier.cluster.wait.acquire.aligned;") == 2
    assert ptx.count("griddepcontrol.wait;") == ptx.count("griddepcontrol.launch_dependents;") == 1


@pytest.mark.parametrize("arch", ARCHS)
def test_copies_of_threads(arch: str) -> None:
    ptx = ptx_of(
        """
cp_async<16>(s, g);
cp_async<16, CACHE_EVICT_FIRST>(s, g, x);
cp_async<8>(s, g, x);
cp_async<4, CACHE_EVICT_LAST + CACHE_READ_ONLY>(s, g);
cp_async_commit();
cp_async_wait<1>();
cp_async_wait_all();
""",
        arch,
    )
    for form in (
        r"cp\.async\.cg\.shared\.global \[%r\d+\], \[%rd\d+\], 16, %r\d+;",
        r"cp\.async\.cg\.shared\.global\.L2::cache_hint \[%r\d+\], \[%rd\d+\], 16, %r\d+, %rd\d+;",
        r"cp\.async\.ca\.shared\.global \[%r\d+\], \[%rd\d+\], 8, %r\d+;",
        r"cp\.async\.ca\.shared\.global\.L2::cache_hint \[%r\d+\], \[%rd\d+\], 4, %r\d+, %rd\d+;",
        r"cp\.async\.commit_group;",
        r"cp\.async\.wait_group 1;",
        r"cp\.async\.wait_all;",
    ):
        assert len(re.findall(form, ptx)) == 1, form


@pytest.mark.parametrize("arch", ARCHS)
def test_a_task_of_one_warp_needs_no_named_barrier(arch: str) -> None:
    body = """
const Task<{threads}, 3> task(4);
task.sync();
if (task.leader()) out[0] = task.threads + task.warps;
out[1 + task.thread] = task.warp_sum(x) + task.warp_max(task.lane) + static_cast<int>(task.warp_sum(1.f * x));
"""
    one = ptx_of(body.replace("{threads}", "32"), arch)
    assert "bar.warp.sync" in one
    assert "bar.sync" not in one
    assert "elect.sync" in one
    four = ptx_of(body.replace("{threads}", "128"), arch)
    assert four.count("bar.sync") == 1
    assert four.count("shfl.sync.bfly.b32") == 15
    assert four.count("shfl.sync.idx.b32") == 1


@pytest.mark.parametrize("arch", ARCHS)
def test_registers_move_between_warpgroups(arch: str) -> None:
    body = """
if (warp_index() < 4) registers_grow<232>();
else registers_shrink<40>();
named_barrier_arrive(2, 256);
named_barrier_sync(3, 256);
out[0] = lane_index();
"""
    ptx = ptx_of(body, arch)
    assert "setmaxnreg.inc.sync.aligned.u32 232;" in ptx
    assert "setmaxnreg.dec.sync.aligned.u32 40;" in ptx
    assert "bar.arrive" in ptx
