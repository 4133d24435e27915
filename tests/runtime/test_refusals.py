"""Each mistake of a caller gets its one sentence, and nothing is launched."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.runtime.arrays import ADDRESS, CudaArray, Exporter, Tensor
from tests.runtime.conftest import Make
from tests.runtime.fake_driver import FakeDriver
from tests.runtime.manifests import dim, scalar, tensor
from tsc.runtime.errors import LaunchError

GEMM: dict[str, Any] = {
    "kernel": "gemm",
    "constants": {"BN": 64},
    "params": [
        tensor("a", "m", "k", stride_multiple=8),
        tensor("b", "n", "k"),
        tensor("d", "m", "n", access="out"),
        scalar("alpha"),
        scalar("parts", "i32"),
    ],
    "dims": {"m": dim(low=1), "n": dim(high=4096), "k": dim(multiple_of=8)},
    "asserts": [{"expr": "n % BN == 0", "text": "n is a multiple of the tile"}],
    "arguments": [{"kind": "value", "expr": "m * n", "type": "i32"}],
}


def a(*shape: int, **more: Any) -> Tensor:
    return Tensor(*(shape or (16, 32)), **more)


b, d = Tensor(64, 32), Tensor(16, 64)

REFUSED = [
    # Count and names.
    ((a(), b, d, 1.0, 1, 2), {}, "it takes 5 arguments (`a`, `b`, `d`, `alpha` and `parts`) and gets 6"),
    (
        (a(), b, d, 1.0),
        {},
        "it takes 5 arguments (`a`, `b`, `d`, `alpha` and `parts`) and one is missing: "
        "`parts`, a number of type i32",
    ),
    (
        (a(), b),
        {},
        "it takes 5 arguments (`a`, `b`, `d`, `alpha` and `parts`) and 3 are missing: `d`, a bf16 tensor of "
        "shape [m, n]; `alpha`, a number of type f32; `parts`, a number of type i32",
    ),
    ((a(), b, d, 1.0), {"part": 1}, "it has no parameter `part`; did you mean `parts`?"),
    ((a(), b, d, 1.0, 1), {"alpha": 2.0}, "`alpha` is passed twice, by position and by name"),
    ((a(), b, d, 1.0, 1), {"m": "4"}, "dim `m` is a `str`; pass an integer"),
    # No tensors.
    ((None, b, d, 1.0, 1), {}, "`a` is None; pass a bf16 tensor of shape [m, k]"),
    (
        (ADDRESS, b, d, 1.0, 1),
        {},
        "`a` is a number, and a bare address does not say what lies there; pass a bf16 tensor "
        "of shape [m, k]",
    ),
    (([[1.0]], b, d, 1.0, 1), {}, "`a` is a `list`; pass a bf16 tensor of shape [m, k]"),
    # Place.
    (
        (a(device=None), b, d, 1.0, 1),
        {},
        "`a` is on `cpu`, and the kernel needs it on a GPU; copy it there first",
    ),
    (
        (Exporter(16, 32, place=(1, 0)), b, d, 1.0, 1),
        {},
        "`a` is in host memory, and the kernel needs it on a GPU; copy it there first",
    ),
    (
        (Exporter(16, 32, place=(3, 0)), b, d, 1.0, 1),
        {},
        "`a` is in pinned host memory, and the kernel needs it on a GPU; copy it there first",
    ),
    (
        (a(device=1), b, d, 1.0, 1),
        {},
        "`a` is on GPU 1 and `b` is on GPU 0; all arguments of a call must be on one GPU",
    ),
    (
        (a(), b, Exporter(16, 64, version=(1, 0), flags=1), 1.0, 1),
        {},
        "`d` is read-only by its producer, and the kernel writes it",
    ),
    # Type and shape.
    ((a(dtype="float32"), b, d, 1.0, 1), {}, "`a` holds f32 and the kernel takes bf16; convert it first"),
    (
        (a(dtype="complex64"), b, d, 1.0, 1),
        {},
        "`a` holds complex64 and the kernel takes bf16; convert it first",
    ),
    ((a(16, 32, 1), b, d, 1.0, 1), {}, "`a` has 3 dimensions and the kernel takes 2, `[m, k]`"),
    ((a(16), b, d, 1.0, 1), {}, "`a` has 1 dimension and the kernel takes 2, `[m, k]`"),
    (
        (a(16, 40), b, d, 1.0, 1),
        {},
        "`k` is 40 by dimension 1 of `a` and 32 by dimension 1 of `b`; they must agree",
    ),
    ((a(), b, d, 1.0, 1), {"k": 64}, "`k` is 64 by the call and 32 by dimension 1 of `a`; they must agree"),
    # Promises.
    (
        (a(16, 36), Tensor(64, 36), d, 1.0, 1),
        {},
        "`k` is 36 by dimension 1 of `a`, and the kernel needs a multiple of 8",
    ),
    (
        (a(), Tensor(8192, 32), Tensor(16, 8192), 1.0, 1),
        {},
        "`n` is 8,192 by dimension 0 of `b`, and the kernel takes at most 4,096",
    ),
    (
        (a(0, 32), b, Tensor(0, 64), 1.0, 1),
        {},
        "`m` is 0 by dimension 0 of `a`, and the kernel needs at least 1",
    ),
    (
        (a(), Tensor(72, 32), Tensor(16, 72), 1.0, 1),
        {},
        "the kernel relies on `n % BN == 0` (n is a multiple of the tile), "
        "and `n` is 72 by dimension 0 of `b`",
    ),
    # Strides and address.
    (
        (a(strides=(1, 16)), b, d, 1.0, 1),
        {},
        "`a` has stride 16 in dimension 1, which must be contiguous; pass a copy where its stride is 1",
    ),
    (
        (a(strides=(33, 1)), b, d, 1.0, 1),
        {},
        "`a` has stride 33 in dimension 0, and the kernel needs a multiple of 8 "
        "elements (16 B); pad it to 40",
    ),
    (
        (a(strides=(-32, 1)), b, d, 1.0, 1),
        {},
        "`a` has stride -32 in dimension 0; pass a copy that is not flipped",
    ),
    (
        (a(), b, Tensor(16, 64, strides=(0, 1)), 1.0, 1),
        {},
        "`d` is written, and in dimension 0 its elements share memory "
        "(stride 0); pass a tensor that is not broadcast",
    ),
    (
        (a(address=ADDRESS + 2), b, d, 1.0, 1),
        {},
        "`a` begins 2 B past a multiple of 16 B, which the kernel needs (address "
        "0x7f0000000002); pass a copy, or a slice that begins on one",
    ),
    (
        (a(address=0), b, d, 1.0, 1),
        {},
        "`a` has elements and no memory (a null pointer); pass a tensor that owns some",
    ),
    # Scalars.
    ((a(), b, d, "x", 1), {}, "`alpha` is `'x'` and the kernel takes f32; pass a number"),
    ((a(), b, d, True, 1), {}, "`alpha` is `True` and the kernel takes f32; pass a number"),
    ((a(), b, d, 1e300, 1), {}, "`alpha` is 1e+300, and f32 holds up to 3.40282e+38"),
    ((a(), b, d, 10**400, 1), {}, "`alpha` is larger than f32 holds"),
    ((a(), b, d, None, 1), {}, "`alpha` is None; pass a number that fits f32"),
    ((a(), b, d, 1.0, 2.0), {}, "`parts` is `2.0` and the kernel takes i32; pass an integer"),
    ((a(), b, d, 1.0, True), {}, "`parts` is `True` and the kernel takes i32; pass an integer"),
    ((a(), b, d, 1.0, 2**31), {}, "`parts` is 2,147,483,648, and i32 holds -2,147,483,648 to 2,147,483,647"),
    (
        (a(), b, d, 1.0, d),
        {},
        "`parts` is a scalar of type i32 and gets a tensor; pass a number, such as `x.item()`",
    ),
    ((a(), b, d, 1.0, object), {}, "`parts` is `<class 'object'>` and the kernel takes i32; pass an integer"),
    ((a(), b, d, 1.0, list(range(99))), {}, "`parts` is a `list` and the kernel takes i32; pass an integer"),
    # Stream.
    (
        (a(), b, d, 1.0, 1),
        {"stream": "main"},
        "`stream` is a `str`; pass a torch or CuPy stream, an object with "
        "`__cuda_stream__`, or the handle as an integer",
    ),
    (
        (a(), b, d, 1.0, 1),
        {"stream": -1},
        "`stream` is no address; pass the handle of a stream, or 0 for the default one",
    ),
    (
        (a(), b, d, 1.0, 1),
        {"stream": 2**64},
        "`stream` is no address; pass the handle of a stream, or 0 for the default one",
    ),
    ((a(), b, d, 1.0, 1), {"m": 2**63}, "dim `m` needs more than the 64 bits of a dim"),
    (
        (a(), b, d, 1.0, 10**5000),
        {},
        "`parts` is an integer of 16,610 bits, and i32 holds -2,147,483,648 to 2,147,483,647",
    ),
]


@pytest.mark.parametrize(("arguments", "named", "sentence"), REFUSED)
def test_a_mistake_is_refused(
    make: Make, driver: FakeDriver, arguments: tuple[Any, ...], named: dict[str, Any], sentence: str
) -> None:
    driver.gpus.append(driver.gpus[0])
    kernel = make(**GEMM)
    for _ in range(2):
        with pytest.raises(LaunchError) as refusal:
            kernel(*arguments, **named)
        assert str(refusal.value) == f"`gemm`: {sentence}"
        assert refusal.value.__suppress_context__
    assert driver.launches == []
    assert driver.named("cuMemAlloc") == []


def test_its_good_twin_is_launched(make: Make, driver: FakeDriver) -> None:
    make(**GEMM)(a(), b, d, 1.0, 1)
    assert len(driver.launches) == 1


@pytest.mark.parametrize(
    ("grid", "cluster", "sentence"),
    [
        (
            ["m", "1", "1"],
            [1, 1, 1],
            "the grid has 4,294,967,296 CTAs in x (`m`), and CUDA allows 2,147,483,647",
        ),
        (["1", "n", "1"], [1, 1, 1], "the grid has 70,000 CTAs in y (`n`), and CUDA allows 65,535"),
        (["1", "1", "n"], [1, 1, 1], "the grid has 70,000 CTAs in z (`n`), and CUDA allows 65,535"),
        (["5 - n", "1", "1"], [1, 1, 1], "the grid has -69,995 CTAs in x (`5 - n`), which is less than none"),
        (
            ["n + 1", "1", "1"],
            [2, 1, 1],
            "the grid has 70,001 CTAs in x (`n + 1`), which is no multiple of the cluster's 2",
        ),
        (
            ["4", "3", "1"],
            [2, 2, 1],
            "the grid has 3 CTAs in y (`3`), which is no multiple of the cluster's 2",
        ),
    ],
)
def test_a_grid_that_cuda_cannot_launch_is_refused(
    make: Make, driver: FakeDriver, grid: list[str], cluster: list[int], sentence: str
) -> None:
    kernel = make(grid=grid, cluster=cluster, dims={"m": dim(high=2**40), "n": dim()})
    with pytest.raises(LaunchError) as refusal:
        kernel(Tensor(2**32, 70_000))
    assert str(refusal.value) == f"`scale`: {sentence}"
    assert driver.launches == []


def test_a_grid_without_a_value_is_refused(make: Make) -> None:
    with pytest.raises(LaunchError, match=r"`scale`: `m // \(n - 4\)` has no value: .*zero"):
        make(grid=["m // (n - 4)", "1", "1"])(Tensor(4, 4))


@pytest.mark.parametrize(
    ("argument", "sentence"),
    [
        (
            {"kind": "value", "expr": "m * n", "type": "i32"},
            "`m * n` is 4,294,967,296, and the kernel takes it as i32",
        ),
        ({"kind": "value", "expr": "-m", "type": "u32"}, "`-m` is -65,536, and the kernel takes it as u32"),
        (
            {"kind": "stride", "tensor": "x", "dim": 0, "type": "i32"},
            "the stride of dimension 0 of `x` is 4,294,967,296, and the kernel takes it as i32",
        ),
    ],
)
def test_a_value_that_does_not_fit_its_type_is_refused(
    make: Make, argument: dict[str, object], sentence: str
) -> None:
    kernel = make(arguments=[argument])
    with pytest.raises(LaunchError) as refusal:
        kernel(Tensor(65_536, 65_536, strides=(2**32, 1)))
    assert str(refusal.value) == f"`scale`: {sentence}"


def test_a_scalar_that_does_not_fit_the_argument_is_refused(make: Make) -> None:
    kernel = make(
        params=[tensor("x", "m"), scalar("count", "i64")],
        arguments=[{"kind": "scalar", "param": "count", "type": "i32"}],
    )
    with pytest.raises(LaunchError) as refusal:
        kernel(Tensor(4), 2**40)
    assert str(refusal.value) == "`scale`: `count` is 1,099,511,627,776, and the kernel takes it as i32"


def test_a_tensor_without_readable_memory_is_refused(make: Make) -> None:
    class Fake(Tensor):
        def data_ptr(self) -> int:
            raise RuntimeError("no storage\nand more lines")

    with pytest.raises(LaunchError) as refusal:
        make()(Fake(4, 4))
    assert str(refusal.value) == "`scale`: `x` is a tensor without readable memory (no storage)"


def test_a_read_only_cuda_array_is_refused_only_where_it_is_written(make: Make, driver: FakeDriver) -> None:
    taken = make(params=[tensor("x", "m", dtype="f32")])
    taken(CudaArray(8, read_only=True))
    assert len(driver.launches) == 1
    written = make(params=[tensor("x", "m", dtype="f32", access="inout")])
    with pytest.raises(LaunchError, match="`x` is read-only by its producer, and the kernel writes it"):
        written(CudaArray(8, read_only=True))


NAMES = ("x", "a", "b", "m", "stream", "y")

ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=1), st.integers(), max_size=2),
    st.sampled_from([object, object(), Tensor(4), Tensor(0), Exporter(4), CudaArray(4, typestr="<u2"), ...]),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(st.lists(ANYTHING, max_size=4), st.dictionaries(st.sampled_from(NAMES), ANYTHING))
def test_whatever_is_passed_ends_in_a_launch_or_a_sentence(
    make: Make, driver: FakeDriver, arguments: list[Any], named: dict[str, Any]
) -> None:
    kernel = make(
        params=[tensor("x", "m"), scalar("a"), scalar("b", "i32")],
        arguments=[{"kind": "scalar", "param": "a", "type": "f32"}],
    )
    before = len(driver.launches)
    try:
        kernel(*arguments, **named)
    except LaunchError as error:
        assert str(error).startswith("`scale`: ")
        assert len(driver.launches) == before


def test_a_stream_of_another_gpu_is_refused(make: Make, driver: FakeDriver) -> None:
    driver.gpus.append(driver.gpus[0])
    driver.stream_devices[0x500] = 1
    with pytest.raises(LaunchError) as refusal:
        make()(Tensor(4, 4), stream=0x500)
    assert str(refusal.value) == (
        "`scale`: `stream` is of GPU 1 and the tensors are on GPU 0; pass a stream of theirs"
    )
