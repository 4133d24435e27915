"""The loader on a real GPU, with kernels of a few lines: what only driver and hardware can confirm."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import tsc
from tests.runtime.cubins import cubin
from tests.runtime.manifests import dim, scalar, tensor

pytestmark = pytest.mark.gpu
pytest.importorskip("cuda.bindings.nvrtc", reason="no CUDA bindings for this platform")
torch = pytest.importorskip("torch", reason="the GPU tests compare with torch, which is not installed")

SCALE = """
extern "C" __global__ void scale(const float *x, long long pitch, float *y, int m, int n, float alpha) {
    asm volatile("griddepcontrol.wait;" ::: "memory");
    for (int row = blockIdx.x; row < m; row += gridDim.x)
        for (int col = threadIdx.x; col < n; col += blockDim.x)
            y[(long long)row * n + col] = alpha * x[row * pitch + col];
    asm volatile("griddepcontrol.launch_dependents;");
}
"""

SCALE_MANIFEST: dict[str, Any] = {
    "params": [
        tensor("x", "m", "n", dtype="f32", align=4),
        tensor("y", "m", "n", dtype="f32", align=4, access="out", packed=True),
        scalar("alpha"),
    ],
    "grid": ["min(4 * sms, m)", "1", "1"],
    "pdl": True,
    "arguments": [
        {"kind": "pointer", "tensor": "x"},
        {"kind": "stride", "tensor": "x", "dim": 0, "type": "i64"},
        {"kind": "pointer", "tensor": "y"},
        {"kind": "value", "expr": "m", "type": "i32"},
        {"kind": "value", "expr": "n", "type": "i32"},
        {"kind": "scalar", "param": "alpha", "type": "f32"},
    ],
}

# Each CTA moves one box by TMA; the boxes at the far ends reach beyond the tensor.
TMA = """
struct alignas(64) Map { char bytes[128]; };
extern "C" __global__ void scale(const __grid_constant__ Map map, unsigned short *y, int m, int n) {
    extern __shared__ __align__(128) unsigned short box[];
    __shared__ alignas(8) unsigned long long full;
    unsigned barrier = (unsigned)__cvta_generic_to_shared(&full);
    unsigned into = (unsigned)__cvta_generic_to_shared(box);
    int row = blockIdx.y * 16, col = blockIdx.x * 64;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 2048;" ::"r"(barrier) : "memory");
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
            "%3}], [%4];"
            ::"r"(into), "l"(&map), "r"(col), "r"(row), "r"(barrier) : "memory");
    }
    __syncthreads();
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;"
                     "  selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(barrier) : "memory");
    for (int i = threadIdx.x; i < 16 * 64; i += blockDim.x)
        if (row + i / 64 < m && col + i % 64 < n) y[(long long)(row + i / 64) * n + col + i % 64] = box[i];
}
"""

# The last CTA to count tells how many there are, if they came in clusters of two.
COUNT = """
extern "C" __global__ void scale(int *counter, int *out) {
    extern __shared__ int large[];
    large[50000 + threadIdx.x] = 1;
    __syncthreads();
    unsigned cluster;
    asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(cluster));
    if (threadIdx.x == 0 && atomicAdd(counter, large[50127]) == gridDim.x - 1)
        *out = cluster == 2 ? gridDim.x : 0;
}
"""


@pytest.fixture(scope="module")
def arch() -> str:
    major, minor = torch.cuda.get_device_capability()
    if major < 9:
        pytest.skip("the kernels of these tests need compute capability 9.0")
    return f"sm_{major}{minor}a"


@pytest.fixture(scope="module")
def scale(arch: str) -> Any:
    return tsc.load(cubin(SCALE, arch, **SCALE_MANIFEST))


class DlpackOnly:
    """A tensor that is seen through DLPack."""

    def __init__(self, whole: Any) -> None:
        self.__dlpack__ = whole.__dlpack__
        self.__dlpack_device__ = whole.__dlpack_device__


class InterfaceOnly:
    """A tensor that is seen through the CUDA array interface."""

    def __init__(self, whole: Any) -> None:
        self.__cuda_array_interface__ = whole.__cuda_array_interface__


@pytest.mark.parametrize("wrap", [lambda whole: whole, DlpackOnly, InterfaceOnly])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (1000, 77), (3, 4096)])
def test_a_kernel_computes(scale: Any, wrap: Callable[[Any], Any], m: int, n: int) -> None:
    x = torch.randn(m, 2 * n, device="cuda")[:, :n]
    y = torch.full((m, n), float("nan"), device="cuda")
    for alpha in (2.0, -0.5):
        scale(wrap(x), wrap(y), alpha)
        assert torch.equal(y, alpha * x)


def test_cupy_arrays_go_in(scale: Any) -> None:
    cupy = pytest.importorskip("cupy")
    with cupy.cuda.Stream(non_blocking=True) as stream:
        # Filled in this stream, too: it does not wait for the default one.
        x = cupy.arange(12, dtype=cupy.float32).reshape(3, 4)
        y = cupy.empty_like(x)
        scale(x, y, 2)
        stream.synchronize()
    assert (y == 2 * x).all()


def test_it_runs_in_the_order_of_the_stream(scale: Any) -> None:
    stream = torch.cuda.Stream()
    x = torch.ones(4096, 4096, device="cuda")
    y = torch.empty_like(x)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        for _ in range(20):
            scale(x, y, 2.0)
            scale(y, x, 0.5)
            x += 1
    stream.synchronize()
    assert torch.equal(x, torch.full_like(x, 21.0))
    scale(x, y, 2.0, stream=stream)
    stream.synchronize()
    assert torch.equal(y, 2 * x)


def test_nothing_runs_for_no_elements(scale: Any) -> None:
    scale(torch.empty(0, 8, device="cuda"), torch.empty(0, 8, device="cuda"), 1.0)
    torch.cuda.synchronize()


def test_more_than_two_to_the_31_bytes(scale: Any) -> None:
    if torch.cuda.mem_get_info()[0] < 8 << 30:
        pytest.skip("less than 8 GiB of GPU memory are free")
    x = torch.ones(40_000, 16_384, device="cuda")
    y = torch.zeros_like(x)
    scale(x, y, 3.0)
    assert float(y.min()) == float(y.max()) == 3.0


def test_threads_without_a_context(scale: Any) -> None:
    x = torch.randn(64, 64, device="cuda")
    results = [torch.empty_like(x) for _ in range(8)]
    failures = []

    def run(y: Any) -> None:
        try:
            for _ in range(100):
                scale(InterfaceOnly(x), InterfaceOnly(y), 2.0)
        except Exception as error:
            failures.append(error)

    torch.cuda.synchronize()
    threads = [threading.Thread(target=run, args=(y,)) for y in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    torch.cuda.synchronize()
    assert failures == []
    assert all(torch.equal(y, 2 * x) for y in results)


def test_every_gpu_runs_it(scale: Any) -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("this machine has one GPU")
    for device in range(torch.cuda.device_count()):
        x = torch.randn(64, 64, device=f"cuda:{device}")
        y = torch.empty_like(x)
        scale(x, y, 2.0)
        assert torch.equal(y, 2 * x)
    with pytest.raises(tsc.LaunchError, match="all arguments of a call must be on one GPU"):
        scale(x, torch.empty(64, 64, device="cuda:0"), 1.0)


@pytest.mark.parametrize(("m", "n"), [(16, 64), (100, 200), (1, 8)])
def test_a_tensor_map_moves_the_right_box(arch: str, m: int, n: int) -> None:
    kernel = tsc.load(
        cubin(
            TMA,
            arch,
            params=[tensor("x", "m", "n", stride_multiple=8), tensor("y", "m", "n", access="out")],
            grid=["cdiv(n, 64)", "cdiv(m, 16)", "1"],
            smem_bytes=2048,
            arguments=[
                {"kind": "tensor_map", "map": 0},
                {"kind": "pointer", "tensor": "y"},
                {"kind": "value", "expr": "m", "type": "i32"},
                {"kind": "value", "expr": "n", "type": "i32"},
            ],
            tensor_maps=[{"tensor": "x", "box": [16, 64], "swizzle": 0, "l2": 128, "fill": "zero"}],
        )
    )
    x = torch.randn(m, n + 8, device="cuda").bfloat16()[:, :n]
    y = torch.zeros(m, n, device="cuda").bfloat16()
    kernel(x, y)
    assert torch.equal(x, y)


@pytest.fixture
def count(arch: str) -> Any:
    return tsc.load(
        cubin(
            COUNT,
            arch,
            params=[tensor("out", "1", dtype="i32", access="out")],
            dims={"ctas": dim(low=1)},
            workspace=[{"name": "counter", "dtype": "i32", "shape": ["1"], "zero": "every_launch"}],
            grid=["2 * ctas", "1", "1"],
            cluster=[2, 1, 1],
            smem_bytes=220_000,
            arguments=[{"kind": "pointer", "tensor": "counter"}, {"kind": "pointer", "tensor": "out"}],
        )
    )


def test_clusters_large_shared_memory_and_a_zeroed_workspace(count: Any) -> None:
    for ctas in (1, 100, 7):
        out = torch.zeros(1, dtype=torch.int32, device="cuda")
        count(out, ctas=ctas)
        assert int(out) == 2 * ctas


def test_a_graph_replays_it(scale: Any, count: Any) -> None:
    x, y = torch.ones(128, 128, device="cuda"), torch.zeros(128, 128, device="cuda")
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        with torch.cuda.graph(torch.cuda.CUDAGraph(), stream=stream):
            y.zero_()
            with pytest.raises(tsc.LaunchError, match="workspace `counter` needs 4 B that are not allocated"):
                count(out, ctas=3)
        count(out, ctas=3)
        scale(x, y, 1.0)
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            scale(x, y, 2.0)
            scale(y, x, 1.0)
            count(out, ctas=3)
    out.zero_()
    x.fill_(1.0)
    torch.cuda.synchronize()
    for _ in range(5):
        graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(x, torch.full_like(x, 32.0))
    assert int(out) == 6


def test_a_cubin_of_another_gpu_is_refused(arch: str) -> None:
    other = "sm_100a" if arch != "sm_100a" else "sm_90a"
    with pytest.raises(
        tsc.LoadError, match=f"the cubin is built for `{other}` and GPU 0 .* is `{arch[:-1]}`"
    ):
        tsc.load(cubin(arch=other))
