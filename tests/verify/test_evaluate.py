"""References against values worked out by hand, by both libraries."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tsc.notation import parse
from tsc.verify.arrays import Arrays
from tsc.verify.compare import compare, tolerance_for
from tsc.verify.evaluate import evaluate, is_wide, shaped
from tsc.verify.layout import Layout
from tsc.verify.plan import PlanError

np = pytest.importorskip("numpy", reason="needs NumPy")

A = [[1.0, -2.0, 3.0], [0.5, 0.0, -1.0]]
B = [[2.0, 1.0, 0.0], [-1.0, 4.0, 2.0]]
Q = [[[1.0, 0.0], [0.0, 2.0]], [[1.0, 1.0], [3.0, -1.0]]]


def value(arrays: Arrays, text: str) -> Any:
    known = {
        "a": arrays.from_host(np.array(A), True),
        "b": arrays.from_host(np.array(B), True),
        "q": arrays.from_host(np.array(Q), True),
        "s": 0.5,
        "m": 2,
    }
    return np.asarray(arrays.to_host(evaluate(parse(text), known, arrays, True)))


def erf_gelu(x: float) -> float:
    return x * (1 + math.erf(x / math.sqrt(2))) / 2


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a @ b.T", [[0.0, -3.0], [1.0, -2.5]]),
        ("a.T", [[1.0, 0.5], [-2.0, 0.0], [3.0, -1.0]]),
        ("a + b * 2 - 1", [[4.0, -1.0, 2.0], [-2.5, 7.0, 2.0]]),
        ("a / m", [[0.5, -1.0, 1.5], [0.25, 0.0, -0.5]]),
        ("-a * s", [[-0.5, 1.0, -1.5], [-0.25, 0.0, 0.5]]),
        ("relu(a)", [[1.0, 0.0, 3.0], [0.5, 0.0, 0.0]]),
        ("max(a)", [[3.0], [0.5]]),
        ("sum(a, -1)", [[2.0], [-0.5]]),
        ("mean(b)", [[1.0], [5 / 3]]),
        ("a * sum(a)", [[2.0, -4.0, 6.0], [-0.25, 0.0, 0.5]]),
        ("where(a > 0, b, -1)", [[2.0, -1.0, 0.0], [-1.0, -1.0, -1.0]]),
        ("where(a, 1, 0)", [[1.0, 1.0, 1.0], [1.0, 0.0, 1.0]]),
        ("exp(a)", [[math.exp(x) for x in row] for row in A]),
        ("tanh(a)", [[math.tanh(x) for x in row] for row in A]),
        ("sigmoid(a)", [[sigmoid(x) for x in row] for row in A]),
        ("silu(a)", [[x * sigmoid(x) for x in row] for row in A]),
        ("gelu(a)", [[erf_gelu(x) for x in row] for row in A]),
        ("rsqrt(a * a + 1)", [[1 / math.sqrt(x * x + 1) for x in row] for row in A]),
        ("q @ q.mT", [[[1.0, 0.0], [0.0, 4.0]], [[2.0, 2.0], [2.0, 10.0]]]),
        ("causal(q)", [[[1.0, -math.inf], [0.0, 2.0]], [[1.0, -math.inf], [3.0, -1.0]]]),
        ("softmax(causal(q))", [
            [[1.0, 0.0], [1 / (1 + math.e**2), math.e**2 / (1 + math.e**2)]],
            [[1.0, 0.0], [math.e**4 / (1 + math.e**4), 1 / (1 + math.e**4)]],
        ]),
        ("causal(a)", [[1.0, -2.0, -math.inf], [0.5, 0.0, -1.0]]),
        ("1 / 0 + m", math.inf),
    ],
)  # fmt: skip
def test_value(arrays: Arrays, text: str, wanted: Any) -> None:
    found = value(arrays, text)
    assert found.shape == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)


def test_an_unknown_name_is_refused(arrays: Arrays) -> None:
    with pytest.raises(PlanError, match="the reference names `c`, which the kernel does not have"):
        value(arrays, "a + c")


@pytest.mark.parametrize(
    ("given", "wanted"), [((2, 1), (2,)), ((3,), (1, 3)), ((), (2, 2)), ((1, 3), (2, 3)), ((2, 3), (2, 3))]
)
def test_a_reference_takes_its_output_s_shape(
    arrays: Arrays, given: tuple[int, ...], wanted: tuple[int, ...]
) -> None:
    assert tuple(shaped(arrays.normal(given), wanted, "y", arrays).shape) == wanted


def test_another_shape_is_refused(arrays: Arrays) -> None:
    with pytest.raises(PlanError, match=r"`y` has the shape \[3, 2\], and the output \[2, 3\]"):
        shaped(arrays.normal((3, 2)), (2, 3), "y", arrays)


def test_large_references_are_evaluated_in_float32() -> None:
    trees = {"d": parse("a @ b.T")}
    assert is_wide(trees, {"a": (8192, 8192), "b": (8192, 8192)})
    assert not is_wide(trees, {"a": (32768, 16384), "b": (32768, 16384)})


def laid(shape: tuple[int, ...], dtype: str = "bf16") -> Layout:
    return Layout("y", dtype, shape, (1,) * len(shape), tuple(range(len(shape))), 0, 0)


def compared(arrays: Arrays, got: list[float], wanted: list[float], dtype: str = "bf16", **given: Any) -> Any:
    tolerance = tolerance_for(dtype, (), given.get("rtol"), given.get("atol"))
    values = [arrays.from_host(np.array(one), True) for one in (got, wanted)]
    return compare(arrays, laid((len(got),), dtype), *values, tolerance, True)


def test_relative_error_is_that_of_norms(arrays: Arrays) -> None:
    found = compared(arrays, [3.0, 4.0, 0.02], [3.0, 4.0, 0.0], rtol=0, atol=0.05)
    assert found.relative_error == pytest.approx(0.02 / 5)
    assert found.worst.index == (2,) and found.worst.share == pytest.approx(0.4)
    assert found.faults == ()


def test_equal_arrays_have_no_worst_element(arrays: Arrays) -> None:
    found = compared(arrays, [1.0, math.inf, math.nan], [1.0, math.inf, math.nan])
    assert (found.relative_error, found.worst, found.faults) == (0.0, None, ())


@pytest.mark.parametrize(
    ("got", "wanted"),
    [
        ([1.0, math.nan], [1.0, 2.0]),
        ([1.0, 2.0], [1.0, math.nan]),
        ([1.0, math.inf], [1.0, 2.0]),
        ([1.0, 2.0], [1.0, math.inf]),
        ([1.0, -math.inf], [1.0, math.inf]),
        ([0.0, 1e-3], [0.0, 0.0]),
    ],
)
def test_what_is_not_near_is_wrong(arrays: Arrays, got: list[float], wanted: list[float]) -> None:
    found = compared(arrays, got, wanted)
    assert found.worst.index == (1,) and found.worst.share > 1
    assert found.faults[0].startswith("1 of 2 elements of `y` are off")


def test_saturated_types_end_at_their_largest_value(arrays: Arrays) -> None:
    assert compared(arrays, [448.0, -448.0], [470.0, -1e6], "e4m3").faults == ()
    assert compared(arrays, [448.0, 400.0], [470.0, 1e6], "e4m3").faults != ()


def test_integers_are_equal_or_wrong(arrays: Arrays) -> None:
    assert compared(arrays, [3.0, 4.0], [3.0, 4.0], "i32").faults == ()
    assert compared(arrays, [3.0, 5.0], [3.0, 4.0], "i32").faults != ()
    assert compared(arrays, [3.0, 5.0], [3.0, 4.0], "i32", atol=1).faults == ()


def test_the_norm_finds_what_no_element_shows(arrays: Arrays) -> None:
    # Every element is within 1.6 %, all of them to one side.
    found = compared(arrays, [1.012] * 100, [1.0] * 100)
    assert (
        len(found.faults) == 1
        and "the relative error of `y` is 0.012, and 0.01 is tolerated" in found.faults[0]
    )


def test_narrow_inputs_widen_what_is_tolerated() -> None:
    assert tolerance_for("f32", (), None, None).rtol == 1e-3
    assert tolerance_for("f32", ("e4m3", "f32"), None, None).rtol == 1.6e-2
    given = tolerance_for("f32", ("e4m3",), 1e-5, None)
    assert (given.rtol, given.atol, given.norm) == (1e-5, None, None)


CODES = {
    "e4m3": {0x00: 0.0, 0x38: 1.0, 0x7E: 448.0, 0x01: 2**-9, 0xB8: -1.0, 0x08: 2**-6},
    "e5m2": {0x00: 0.0, 0x3C: 1.0, 0x7B: 57344.0, 0x01: 2**-16, 0xBC: -1.0, 0x7C: math.inf},
    "bf16": {0x3F80: 1.0, 0x4049: 3.140625, -0x4080 & 0xFFFF: -1.0},
    "f16": {0x3C00: 1.0, 0x7BFF: 65504.0},
}


@pytest.mark.parametrize("dtype", CODES)
def test_codes_stand_for_their_values(arrays: Arrays, dtype: str) -> None:
    codes = list(CODES[dtype])
    wanted = list(CODES[dtype].values())
    host = np.array(codes, np.uint8 if dtype.startswith("e") else np.uint16)
    bits = host if host.itemsize == 1 else host.view(np.int16)
    if arrays.library == "PyTorch":
        bits = arrays.xp.as_tensor(bits.copy())
    assert arrays.to_host(arrays.decode(bits, dtype, True)).tolist() == wanted
    finite = [one for one in wanted if math.isfinite(one)]
    encoded = arrays.encode(arrays.from_host(np.array(finite), True), dtype)
    assert arrays.to_host(arrays.decode(encoded, dtype, True)).tolist() == finite


@pytest.mark.parametrize(
    ("dtype", "given", "wanted"),
    [
        ("e2m1", [0.2, 0.3, -1.3, 5.5, -9.0, 2.4], [0.0, 0.5, -1.5, 6.0, -6.0, 2.0]),
        ("i4", [-8.0, 7.0, -1.0, 3.0], [-8.0, 7.0, -1.0, 3.0]),
        ("u4", [0.0, 15.0, 8.0, 3.0], [0.0, 15.0, 8.0, 3.0]),
        ("e4m3", [500.0, -1e9, 1.06], [448.0, -448.0, 1.0]),
        ("tf32", [1.0 + 2**-12, 1.0 + 2**-10, -3.0], [1.0, 1.0 + 2**-10, -3.0]),
        ("u32", [4294967295.0, 1.0], [4294967295.0, 1.0]),
        ("bool", [0.0, 2.0], [0.0, 1.0]),
        ("i64", [-(2.0**40), 5.0], [-(2.0**40), 5.0]),
    ],
)
def test_values_are_rounded_to_their_type(
    arrays: Arrays, dtype: str, given: list[float], wanted: list[float]
) -> None:
    bits = arrays.encode(arrays.from_host(np.array(given), True), dtype)
    assert arrays.to_host(arrays.decode(bits, dtype, True)).tolist() == wanted
