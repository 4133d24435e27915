"""Operations from the reference, bytes from the params."""

from __future__ import annotations

import pytest

from tests.bench.manifests import gemm, norm
from tsc.bench.work import flop_of, work_of
from tsc.notation import NotationError, parse
from tsc.verify.plan import PlanError

SHAPES = {"a": (3, 5), "b": (7, 5), "c": (3, 7), "q": (2, 4, 8), "k": (2, 6, 8), "bias": (7,), "s": ()}


@pytest.mark.parametrize(
    ("reference", "flop"),
    [
        ("a @ b.T", 2 * 3 * 7 * 5),
        ("s * (a @ b.T) + bias", 2 * 3 * 7 * 5),
        ("gelu(a @ b.T + bias)", 2 * 3 * 7 * 5),
        ("softmax(q @ k.mT) @ k", 2 * 2 * 4 * 6 * 8 + 2 * 2 * 4 * 8 * 6),
        ("(a @ b.T) @ c.T", 2 * 3 * 7 * 5 + 2 * 3 * 3 * 7),
        ("c + bias", 0),
    ],
)
def test_products_count_two_m_n_k(reference: str, flop: int) -> None:
    assert flop_of(parse(reference), SHAPES) == flop


def test_shapes_that_do_not_fit_and_unknown_names_are_refused() -> None:
    with pytest.raises(NotationError, match="inner extents 5 and 7 differ"):
        flop_of(parse("a @ b"), SHAPES)
    with pytest.raises(PlanError, match="neither a param nor a size"):
        flop_of(parse("a @ z"), SHAPES)


def test_a_gemm_is_given_in_flop() -> None:
    work = work_of(gemm(), {"m": 128, "n": 64, "k": 32}, [parse("a @ b.T")])
    assert work.flop == 2 * 128 * 64 * 32
    assert work.bytes == 2 * (128 * 32 + 64 * 32 + 128 * 64)
    assert work.unit == "TFLOP/s"
    assert work.speed(1e-6) == pytest.approx(work.flop / 1e6)


def test_what_multiplies_no_matrices_is_given_in_bytes() -> None:
    work = work_of(norm(), {"rows": 10}, [parse("x * rsqrt(mean(x * x, -1) + eps)")])
    assert (work.flop, work.bytes, work.unit) == (0, 2 * 10 * 512 * 2, "GB/s")
    assert work.speed(1e-3) == pytest.approx(20480 / 1e6)


def test_a_narrow_type_moves_fewer_bytes() -> None:
    sizes = {"m": 8, "n": 8, "k": 16}
    assert work_of(gemm("e4m3"), sizes, []).bytes == 8 * 16 + 8 * 16 + 2 * 64
