"""What reaches the driver: the launch configuration, and every byte of the parameters."""

from __future__ import annotations

import struct

import pytest

from tests.runtime.arrays import ADDRESS, Tensor
from tests.runtime.conftest import Make
from tests.runtime.fake_driver import FakeDriver
from tests.runtime.manifests import dim, scalar, tensor
from tsc.runtime.errors import LaunchError


def values(*kinds: tuple[str, str]) -> list[dict[str, object]]:
    return [{"kind": "value", "expr": expr, "type": kind} for expr, kind in kinds]


def test_a_launch_carries_the_manifest(make: Make, driver: FakeDriver) -> None:
    kernel = make(
        block=[96, 2, 1], cluster=[2, 1, 1], grid=["2 * cdiv(m, 64)", "n", "1"], smem_bytes=101_376, pdl=True
    )
    kernel(Tensor(100, 3), stream=7)
    (launched,) = driver.launches
    assert launched.grid == (4, 3, 1)
    assert launched.block == (96, 2, 1)
    assert launched.cluster == (2, 1, 1)
    assert launched.pdl
    assert launched.smem_bytes == 101_376
    assert launched.stream == 7
    assert launched.function == 0x200
    assert driver.named("cuLaunchKernelEx") == [(0,)]


def test_a_plain_launch_has_no_attributes(make: Make, driver: FakeDriver) -> None:
    make()(Tensor(1, 1))
    (launched,) = driver.launches
    assert launched.cluster is None
    assert not launched.pdl


def test_every_kind_of_argument_is_packed(make: Make, driver: FakeDriver) -> None:
    kernel = make(
        constants={"ROWS": 64, "NAME": "x", "FAST": True},
        params=[tensor("x", "m", "n"), scalar("alpha"), scalar("flag", "bool"), scalar("count", "i32")],
        arguments=[
            {"kind": "pointer", "tensor": "x"},
            {"kind": "stride", "tensor": "x", "dim": 0, "type": "i64"},
            {"kind": "scalar", "param": "flag", "type": "bool"},
            {"kind": "scalar", "param": "alpha", "type": "f32"},
            *values(("m", "i32"), ("m * n", "i64"), ("n + ROWS", "u32"), ("sms", "u64"), ("FAST", "bool")),
            {"kind": "scalar", "param": "alpha", "type": "f64"},
            {"kind": "scalar", "param": "alpha", "type": "f16"},
            {"kind": "scalar", "param": "alpha", "type": "bf16"},
            {"kind": "scalar", "param": "count", "type": "i32"},
        ],
    )
    kernel(Tensor(100, 3, strides=(8, 1), address=ADDRESS + 64), 1.5, True, -4)
    (launched,) = driver.launches
    assert launched.parameters == [
        struct.pack("<Q", ADDRESS + 64),
        struct.pack("<q", 8),
        b"\x01",
        struct.pack("<f", 1.5),
        struct.pack("<i", 100),
        struct.pack("<q", 300),
        struct.pack("<I", 67),
        struct.pack("<Q", 132),
        b"\x01",
        struct.pack("<d", 1.5),
        struct.pack("<e", 1.5),
        b"\xc0\x3f",
        struct.pack("<i", -4),
    ]
    for address, parameter in zip(launched.addresses, launched.parameters, strict=True):
        assert address % len(parameter) == 0


def test_a_tensor_map_lies_at_a_multiple_of_its_size(make: Make, driver: FakeDriver) -> None:
    kernel = make(
        arguments=[*values(("m", "i32")), {"kind": "tensor_map", "map": 0}, *values(("n", "i32"))],
        tensor_maps=[{"tensor": "x", "box": [8, 8], "swizzle": 0, "l2": 0, "fill": "zero"}],
    )
    kernel(Tensor(16, 16))
    (launched,) = driver.launches
    assert [len(parameter) for parameter in launched.parameters] == [4, 128, 4]
    assert launched.addresses[1] % 128 == 0
    assert launched.parameters[1] == b"\x01" * 128


def test_arguments_go_by_name_as_well(make: Make, driver: FakeDriver) -> None:
    kernel = make(
        params=[tensor("x", "m"), scalar("a", "i32"), scalar("b", "i32")],
        arguments=[{"kind": "scalar", "param": name, "type": "i32"} for name in "ab"],
    )
    x = Tensor(4)
    kernel(x, 1, 2)
    kernel(b=2, x=x, a=1)
    kernel(x, b=2, a=1)
    assert [launched.parameters for launched in driver.launches] == [[b"\1\0\0\0", b"\2\0\0\0"]] * 3


def test_a_dim_that_no_shape_tells_is_passed_by_name(make: Make, driver: FakeDriver) -> None:
    kernel = make(dims={"m": dim(), "n": dim(), "parts": dim(low=1)}, arguments=values(("parts", "i32")))
    kernel(Tensor(4, 4), parts=3)
    assert driver.launches[0].parameters == [b"\3\0\0\0"]
    with pytest.raises(LaunchError) as refusal:
        kernel(Tensor(4, 4))
    assert str(refusal.value) == "`scale`: `parts` follows from no shape; pass `parts=...`"


def test_a_param_called_stream_goes_by_position(make: Make, driver: FakeDriver) -> None:
    kernel = make(params=[tensor("stream", "m")], arguments=[{"kind": "pointer", "tensor": "stream"}])
    kernel(Tensor(4), stream=9)
    assert driver.launches[0].stream == 9


def test_the_same_call_is_prepared_once(make: Make, driver: FakeDriver) -> None:
    kernel = make(params=[tensor("x", "m", "n"), scalar("eps")])
    for _ in range(3):
        kernel(Tensor(4, 4), 1.0)
    before = len(driver.calls)
    kernel(Tensor(4, 4), 1.0)
    assert [name for name, _ in driver.calls[before:]] == ["cuLaunchKernelEx"]
    assert len(driver.launches) == 4


@pytest.mark.parametrize(
    ("first", "second"),
    [(0.0, -0.0), (1, 1.0), (1.0, 1), (float("nan"), 0.0), (0.5, 0.25)],
)
def test_calls_that_only_look_alike_are_told_apart(
    make: Make, driver: FakeDriver, first: float, second: float
) -> None:
    kernel = make(
        params=[tensor("x", "m"), scalar("eps")],
        arguments=[{"kind": "scalar", "param": "eps", "type": "f32"}],
    )
    for value in (first, second, first):
        kernel(Tensor(4), value)
    wanted = [[struct.pack("<f", value)] for value in (first, second, first)]
    assert [launched.parameters for launched in driver.launches] == wanted


def test_an_integer_taken_once_does_not_open_the_way_for_a_float(make: Make, driver: FakeDriver) -> None:
    kernel = make(params=[tensor("x", "m"), scalar("count", "i32")])
    kernel(Tensor(4), 1)
    for wrong in (1.0, True):
        with pytest.raises(
            LaunchError, match=r"`count` is `(1.0|True)` and the kernel takes i32; pass an integer"
        ):
            kernel(Tensor(4), wrong)
    assert len(driver.launches) == 1


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0)])
def test_nothing_is_launched_for_an_extent_of_zero(
    make: Make, driver: FakeDriver, shape: tuple[int, int]
) -> None:
    kernel = make(grid=["cdiv(m, 64)", "max(n, 1)", "1"])
    for _ in range(2):
        kernel(Tensor(*shape, address=0, strides=(1, 1)))
    assert driver.launches == []


ZERO = {"min": 0, "max": 2**31 - 1, "multiple_of": 1, "runs_at_zero": True}


@pytest.mark.parametrize(("m", "k", "launched"), [(4, 0, 1), (0, 0, 0), (0, 8, 0), (4, 8, 1)])
def test_a_dim_may_be_zero_where_the_kernel_runs_with_it(
    make: Make, driver: FakeDriver, m: int, k: int, launched: int
) -> None:
    kernel = make(
        params=[tensor("a", "m", "k // 2"), tensor("d", "m", "8", access="out")],
        dims={"m": dim(), "k": ZERO},
        arguments=[{"kind": "pointer", "tensor": name} for name in "ad"],
    )
    for _ in range(2):
        kernel(Tensor(m, k // 2, address=0 if k == 0 else ADDRESS), Tensor(m, 8), k=k)
    assert len(driver.launches) == 2 * launched
    pointers = [bytes(8) if k == 0 else ADDRESS.to_bytes(8, "little"), ADDRESS.to_bytes(8, "little")]
    assert all(one.parameters == pointers for one in driver.launches)


def test_a_product_of_extents_is_empty_by_either(make: Make, driver: FakeDriver) -> None:
    kernel = make(
        params=[tensor("a", "m * k"), tensor("d", "m", access="out")],
        dims={"m": dim(), "k": ZERO},
        arguments=[],
    )
    kernel(Tensor(0, address=0), Tensor(0), k=0)
    assert driver.launches == []
    kernel(Tensor(0, address=0), Tensor(8), k=0)
    assert len(driver.launches) == 1


def test_a_dim_at_zero_does_not_excuse_an_output_without_memory(make: Make, driver: FakeDriver) -> None:
    kernel = make(
        params=[tensor("a", "m", "k"), tensor("d", "m", "8", access="out")],
        dims={"m": dim(), "k": ZERO},
        arguments=[],
    )
    with pytest.raises(LaunchError, match="`d` has elements and no memory"):
        kernel(Tensor(4, 0, address=0), Tensor(4, 8, address=0))


def test_nothing_is_launched_for_a_grid_of_zero(make: Make, driver: FakeDriver) -> None:
    make(grid=["m // 8", "1", "1"])(Tensor(7, 4))
    assert driver.launches == []


def test_a_kernel_without_tensors_runs_on_the_current_gpu(make: Make, driver: FakeDriver) -> None:
    kernel = make(
        params=[scalar("count", "i32")], grid=["count", "1", "1"], arguments=values(("count", "i32"))
    )
    kernel(5)
    assert driver.launches[0].grid == (5, 1, 1)
    assert driver.launches[0].device == 0


def test_a_kernel_without_tensors_follows_its_stream(make: Make, driver: FakeDriver) -> None:
    driver.gpus.append(driver.gpus[0])
    driver.stream_devices[0x500] = 1
    make(params=[], arguments=[])(stream=0x500)
    assert driver.launches[0].device == 1


def test_grid_tells_the_grid(make: Make) -> None:
    kernel = make(
        params=[tensor("x", "m", "n + 1"), scalar("parts", "i32")],
        dims={"m": dim(), "n": dim()},
        grid=["min(sms, cdiv(m, 64))", "parts", "1"],
    )
    assert kernel.grid(m=640, n=1, parts=3) == (10, 3, 1)
    assert kernel.grid(m=10**6, n=1, parts=3) == (132, 3, 1)
    assert kernel.grid(m=10**6, n=1, parts=3, sms=78) == (78, 3, 1)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"m": 1, "parts": 1}, "`n` follows from no shape; pass `n=...`"),
        ({"m": 1, "n": 1, "parts": 1, "kk": 1}, "it has no dim `kk`"),
        ({"m": 1, "n": 1, "parts": 1, "mm": 1}, "it has no dim `mm`; did you mean `m`?"),
        ({"m": -1, "n": 1, "parts": 1}, "`m` is -1 by the call, and the kernel needs at least 0"),
        ({"m": 1.5, "n": 1, "parts": 1}, "dim `m` is a `float`; pass an integer"),
        ({"m": 1, "n": 1, "parts": "2"}, "`parts` is `'2'` and the kernel takes i32; pass an integer"),
    ],
)
def test_grid_refuses_dims(make: Make, given: dict[str, int], sentence: str) -> None:
    kernel = make(
        params=[tensor("x", "m", "n + 1"), scalar("parts", "i32")],
        dims={"m": dim(), "n": dim()},
        grid=["m", "parts", "1"],
    )
    with pytest.raises(LaunchError) as refusal:
        kernel.grid(**given)
    assert str(refusal.value) == f"`scale`: {sentence}"


def test_grid_says_which_value_is_missing(make: Make) -> None:
    kernel = make(params=[tensor("x", "m"), scalar("parts", "i32")], grid=["m", "parts", "1"])
    with pytest.raises(LaunchError, match="`parts` has no value: "):
        kernel.grid(m=1)


def test_repr_shows_the_signature_and_asks_nothing_of_the_driver(make: Make, driver: FakeDriver) -> None:
    kernel = make(params=[tensor("x", "m", "n"), scalar("eps")])
    before = len(driver.calls)
    assert repr(kernel) == "<tsc kernel scale(x: bf16 [m, n], eps: f32) for sm_90a>"
    assert len(driver.calls) == before
    assert kernel.manifest.kernel == "scale"


def test_a_closed_kernel_frees_what_it_has_and_refuses(make: Make, driver: FakeDriver) -> None:
    kernel = make(workspace=[{"name": "w", "dtype": "f32", "shape": ["m"], "zero": "never"}])
    kernel(Tensor(4, 4))
    kernel.close()
    kernel.close()
    assert driver.freed == [0x7000_0000_0000]
    assert driver.named("cuLibraryUnload") == [(0x100,)]
    with pytest.raises(LaunchError) as refusal:
        kernel(Tensor(4, 4))
    assert str(refusal.value) == "`scale`: the kernel is closed; load it again"
