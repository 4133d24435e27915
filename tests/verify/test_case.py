"""A case from inputs to verdict: right kernels, wrong ones, and what they do to memory."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from tests.runtime.manifests import scalar, tensor
from tests.verify.conftest import COPY, GEMM, SCALED, checker, copy, floats, gemm, rounded
from tsc.runtime.errors import LaunchError
from tsc.verify.arrays import Arrays
from tsc.verify.plan import Function, Input

np = pytest.importorskip("numpy", reason="needs NumPy")

SIZE = {"m": 5, "n": 24, "k": 65}


def test_a_right_product_is_right(arrays: Arrays) -> None:
    check = checker(arrays, GEMM, gemm, reference={"d": "a @ b.T"})
    result = check.run(1, SIZE)
    assert (result.verdict, result.faults, result.notes, result.bit_equal) == ("ok", (), (), True)
    (out,) = result.outputs
    assert (out.name, out.elements, out.faults) == ("d", 120, ())
    assert 1e-4 < out.relative_error < 4e-3  # the rounding to bf16
    assert out.worst is not None and 0 < out.worst.share < 0.5
    assert getattr(check.kernel, "calls") == [SIZE] * 3  # noqa: B009 (of the fake alone, no kernel has it)


def test_cases_have_their_own_data(arrays: Arrays) -> None:
    seen: list[Any] = []

    def body(a: Any, b: Any, d: Any) -> None:
        seen.append(a.copy())
        gemm(a, b, d)

    check = checker(arrays, GEMM, body, reference={"d": "a @ b.T"})
    check.run(1, SIZE)
    check.run(2, SIZE)
    check.run(1, SIZE, seed=7)
    check.run(1, SIZE)
    assert (seen[0] == seen[2]).all() and (seen[0] == seen[9]).all()
    assert not (seen[0] == seen[3]).all() and not (seen[0] == seen[6]).all()
    assert abs(floats(seen[0]).std() - 1) < 0.2


def test_a_row_may_be_longer_than_its_extent(arrays: Arrays) -> None:
    strides = []

    def body(a: Any, b: Any, d: Any) -> None:
        strides.append((a.strides[0] // 2, d.strides[0] // 2))
        gemm(a, b, d)

    assert checker(arrays, GEMM, body, reference={"d": "a @ b.T"}).run(1, SIZE).ok
    assert set(strides) == {(80, 32)}  # 65 and 24 to multiples of 8, and 8 apart


def test_one_wrong_element_is_found(arrays: Arrays) -> None:
    def body(a: Any, b: Any, d: Any) -> None:
        gemm(a, b, d)
        d[3, 17] = rounded(floats(d)[3, 17] + 30)

    result = checker(arrays, GEMM, body, reference={"d": "a @ b.T"}).run(1, SIZE)
    assert result.verdict == "wrong"
    (out,) = result.outputs
    assert out.worst is not None and out.worst.index == (3, 17)
    assert out.worst.got - out.worst.wanted == pytest.approx(30, abs=0.2)
    assert "1 of 120 elements of `d` are off by more than" in out.faults[0]
    assert "the relative error of `d` is" in out.faults[1]


def test_an_operand_that_is_not_read_is_found(arrays: Arrays) -> None:
    def body(a: Any, b: Any, d: Any) -> None:
        d[...] = rounded(floats(a)[:, :64] @ floats(b)[:, :64].T)

    result = checker(arrays, GEMM, body, reference={"d": "a @ b.T"}).run(1, SIZE)
    assert result.verdict == "wrong" and result.outputs[0].relative_error > 0.05


def test_elements_that_are_not_written_are_counted(arrays: Arrays) -> None:
    def body(x: Any, y: Any) -> None:
        y[1:, :-1] = x[1:, :-1]

    result = checker(arrays, COPY, body, reference={"y": "x"}).run(1, {"m": 3, "n": 4})
    assert result.verdict == "wrong"
    assert result.outputs[0].faults[0] == "6 of 12 elements of `y` are not written, first [0, 0]"
    assert result.bit_equal is True


@pytest.mark.parametrize(
    "dtype", ["i32", "u8", "bool", "i64", "u32", "i8", "e4m3", "e5m2", "f16", "i4", "e2m1"]
)
def test_poison_is_told_from_every_value(arrays: Arrays, dtype: str) -> None:
    params = [tensor("x", "m", "n", dtype=dtype), tensor("y", "m", "n", dtype=dtype, access="out")]
    size = {"m": 7, "n": 600}
    assert checker(arrays, params, copy, reference={"y": "x"}).run(1, size).ok

    def body(x: Any, y: Any) -> None:
        y[:-1] = x[:-1]

    result = checker(arrays, params, body, reference={"y": "x"}).run(1, size)
    assert "600 of 4,200 elements of `y` are not written, first [6, 0]" in result.outputs[0].faults[0]


def _moved(y: Any, place: int) -> Any:
    """The 16 bits so far behind a tensor's first ones in memory."""
    address = y.__array_interface__["data"][0] + 2 * place
    return np.frombuffer((ctypes.c_int16).from_address(address), dtype=np.int16)


@pytest.mark.parametrize(
    ("place", "where"),
    [
        (-1, "first 2 bytes before its first element"),
        (4, "first 8 bytes after its beginning"),
        (3 * 8 + 100, "first 248 bytes after its beginning"),
    ],
)
def test_a_write_beside_the_tensor_is_seen(arrays: Arrays, place: int, where: str) -> None:
    def body(x: Any, y: Any) -> None:
        copy(x, y)
        _moved(y, place)[0] = 1

    result = checker(arrays, COPY, body, reference={"y": "x"}).run(1, {"m": 3, "n": 4})
    assert result.verdict == "wrong"
    assert result.faults == (f"memory round `y` was written, {where}, where no element is",)
    assert result.outputs[0].faults == ()


@pytest.mark.parametrize(
    ("place", "fault"),
    [(4, None), (7, None), (2 * 16 + 7, None), (8, 16), (15, 30), (2 * 16 + 8, 80), (-1, -2)],
)
def test_padding_may_be_written_and_nothing_behind_it(arrays: Arrays, place: int, fault: int | None) -> None:
    def body(x: Any, y: Any) -> None:
        copy(x, y)
        _moved(y, place)[0] = 1

    params = [COPY[0], tensor("y", "m", "n", access="out", padded=True)]
    result = checker(arrays, params, body, reference={"y": "x"}).run(1, {"m": 3, "n": 4})
    assert len(result.faults) == (fault is not None)
    if fault is not None and fault > 0:
        assert f"first {fault} bytes after its beginning" in result.faults[0]


def test_a_written_input_is_seen(arrays: Arrays) -> None:
    def body(x: Any, y: Any) -> None:
        copy(x, y)
        x[2, 1] ^= 3

    result = checker(arrays, COPY, body, reference={"y": "x"}).run(1, {"m": 3, "n": 4})
    assert "`x` is an input, and its memory was written" in result.faults


def test_a_read_beside_an_input_is_seen(arrays: Arrays) -> None:
    def body(x: Any, y: Any) -> None:
        y[...] = x
        y[0, 3] = _moved(x, 4)[0]

    result = checker(arrays, COPY, body, reference={"y": "x"}).run(1, {"m": 3, "n": 4})
    worst = result.outputs[0].worst
    assert result.verdict == "wrong" and worst is not None and np.isnan(worst.got)
    assert np.isnan(result.outputs[0].relative_error)


def test_launches_that_differ_are_a_note(arrays: Arrays) -> None:
    turns = []

    def body(a: Any, b: Any, d: Any) -> None:
        gemm(a, b, d)
        turns.append(1)
        d[0, 0] += len(turns) - 1  # the last bits

    result = checker(arrays, GEMM, body, reference={"d": "a @ b.T"}).run(1, SIZE)
    assert result.verdict == "ok"
    assert (result.notes, result.bit_equal) == (("3 launches are not bit-equal",), False)


def test_a_later_launch_that_is_wrong_is_found(arrays: Arrays) -> None:
    turns = []

    def body(x: Any, y: Any) -> None:
        copy(x, y)
        turns.append(1)
        if len(turns) == 3:
            y[...] = rounded(7.0)

    result = checker(arrays, COPY, body, reference={"y": "x"}).run(1, {"m": 3, "n": 4})
    assert result.verdict == "wrong" and result.bit_equal is False


def test_scalars_come_from_the_case(arrays: Arrays) -> None:
    def body(x: Any, y: Any, alpha: float) -> None:
        y[...] = (x.view(np.float32) * np.float32(alpha)).view(np.int32)

    check = checker(arrays, SCALED, body, reference={"y": "alpha * x"})
    assert check.run(1, {"n": 33, "alpha": 0.1}).ok
    refused = check.run(1, {"n": 33})
    assert refused.verdict == "refused"
    assert refused.faults == ("the kernel takes a number `alpha`, and the case has none; write `alpha=...`",)
    assert "takes a size `n`, and the case gives none" in check.run(1, {"alpha": 1}).faults[0]


def test_an_output_that_the_reference_reads_starts_with_data(arrays: Arrays) -> None:
    params = [tensor("x", "n", dtype="f32"), tensor("y", "n", dtype="f32", access="inout")]

    def body(x: Any, y: Any) -> None:
        y[...] = (x.view(np.float32) + y.view(np.float32)).view(np.int32)

    assert checker(arrays, params, body, reference={"y": "x + y"}).run(1, {"n": 9}).ok
    zeros = {"y": Input("zeros")}
    assert checker(arrays, params, body, reference={"y": "x"}, inputs=zeros).run(1, {"n": 9}).ok
    poisoned = checker(arrays, params, body, reference={"y": "x"}).run(1, {"n": 9})
    assert poisoned.verdict == "wrong" and np.isnan(poisoned.outputs[0].relative_error)
    assert "`y` is read, too: name it in the reference" in poisoned.notes[0]


def test_a_reference_in_python(arrays: Arrays) -> None:
    params = [
        tensor("count", "1", dtype="i32"),
        tensor("x", "m", "n"),
        tensor("y", "m", "n", access="out"),
        scalar("scale"),
    ]
    text = """
def reference(count, x, y, scale):
    y = y.copy()
    y[: count[0]] = scale * x[: count[0]]
    return {"y": y}
"""

    def body(count: Any, x: Any, y: Any, scale: float) -> None:
        y[: count[0]] = rounded(scale * floats(x[: count[0]]))

    plan = {"python": Function("r.py", "reference", text), "inputs": {"count": Input("range", (1, 3))}}
    assert checker(arrays, params, body, **plan).run(1, {"m": 5, "n": 8, "scale": 2}).ok

    def wrong(count: Any, x: Any, y: Any, scale: float) -> None:
        y[...] = rounded(scale * floats(x))

    assert checker(arrays, params, wrong, **plan).run(1, {"m": 5, "n": 8, "scale": 2}).verdict == "wrong"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("def reference(x): return {'z': x}", "the reference gives `z`, which the kernel does not write"),
        ("def reference(x): return x", "`reference` returns a `ndarray`, and a dict of outputs is asked for"),
        (
            "def reference(x): return {'y': x[0, :3]}",
            "the reference of `y` has the shape [3], and the output",
        ),
        ("def reference(x): return {'y': 1 // 0}", "`reference` fails on this case: ZeroDivisionError"),
    ],
)
def test_a_wrong_reference_in_python_is_refused(arrays: Arrays, text: str, sentence: str) -> None:
    plan = {"python": Function("r.py", "reference", text)}
    result = checker(arrays, COPY, copy, **plan).run(1, {"m": 3, "n": 4})
    assert result.verdict == "refused" and sentence in result.faults[0]


def test_what_the_loader_refuses_is_told(arrays: Arrays) -> None:
    def body(x: Any, y: Any) -> None:
        raise LaunchError("`scale`: no")

    result = checker(arrays, COPY, body, reference={"y": "x"}).run(1, {"m": 3, "n": 4})
    assert (result.verdict, result.faults) == ("refused", ("`scale`: no",))


def test_no_elements_are_all_right(arrays: Arrays) -> None:
    result = checker(arrays, COPY, copy, reference={"y": "x"}).run(1, {"m": 0, "n": 8})
    assert result.ok and result.outputs[0].elements == 0


def test_no_columns_of_k_make_zeros(arrays: Arrays) -> None:
    def body(a: Any, b: Any, d: Any) -> None:
        d[...] = 0

    check = checker(arrays, GEMM, body, reference={"d": "a @ b.T"})
    assert check.run(1, {"m": 4, "n": 8, "k": 0}).ok
    assert (
        checker(arrays, GEMM, lambda a, b, d: None, reference={"d": "a @ b.T"})
        .run(1, {"m": 4, "n": 8, "k": 0})
        .outputs[0]
        .faults[0]
        .startswith("32 of 32 elements of `d` are not written")
    )


def test_an_output_without_reference_is_a_note(arrays: Arrays) -> None:
    params = [*COPY, tensor("z", "m", "n", access="out")]

    def body(x: Any, y: Any, z: Any) -> None:
        y[...] = x
        z[...] = 0

    result = checker(arrays, params, body, reference={"y": "x"}).run(1, {"m": 3, "n": 4})
    assert result.ok and "`z` has no reference" in result.notes[0]


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_a_tensor_may_lie_column_by_column(arrays: Arrays, order: list[int]) -> None:
    params = [tensor("x", "m", "n"), tensor("y", "m", "n", access="out", order=order)]
    result = checker(arrays, params, copy, reference={"y": "x"}).run(1, {"m": 3, "n": 4})
    assert result.ok

    def body(x: Any, y: Any) -> None:
        copy(x, y)
        y[2, 1] = rounded(99.0)

    result = checker(arrays, params, body, reference={"y": "x"}).run(1, {"m": 3, "n": 4})
    worst = result.outputs[0].worst
    assert worst is not None and worst.index == (2, 1)


def test_halves_of_a_byte_lie_along_the_contiguous_dimension(arrays: Arrays) -> None:
    params = [
        tensor("x", "m", "n", dtype="i4", order=[1, 0]),
        tensor("y", "m", "n", dtype="i8", access="out"),
    ]

    def body(x: Any, y: Any) -> None:
        codes = np.stack((x & 15, x >> 4), axis=1).reshape(-1, x.shape[1]).astype(np.int8)
        y[...] = np.where(codes > 7, codes - 16, codes).view(np.uint8)

    assert checker(arrays, params, body, reference={"y": "x"}).run(1, {"m": 6, "n": 5}).ok
    odd = checker(arrays, params, body, reference={"y": "x"}).run(1, {"m": 7, "n": 4})
    assert odd.verdict == "refused" and "two elements a byte" in odd.faults[0]


def test_lengths_are_summed_up(arrays: Arrays) -> None:
    params = [
        tensor("x", "groups"),
        tensor("offsets", "groups + 1", dtype="i32"),
        tensor("y", "groups + 1", dtype="i32", access="out"),
    ]
    seen = []

    def body(x: Any, offsets: Any, y: Any) -> None:
        seen.append(offsets.tolist())
        copy(offsets, y)

    plan = {"reference": {"y": "offsets"}, "inputs": {"offsets": Input("lengths", (0, 5, 300))}}
    check = checker(arrays, params, body, **plan)
    assert check.run(1, {"groups": 3}).ok and seen[0] == [0, 0, 5, 305]
    assert "gives 4 running sums, and the case has room for 6" in check.run(1, {"groups": 5}).faults[0]
