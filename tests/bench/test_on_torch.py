"""References and buffers by a real torch, on the CPU: skipped where there is none."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.bench.manifests import gemm, norm
from tsc.bench.buffers import Buffers, dense
from tsc.bench.eager import cublas, eager, evaluate
from tsc.notation import parse
from tsc.verify.plan import Input, Plan, PlanError
from tsc.verify.torch_arrays import TorchArrays

torch: Any = pytest.importorskip("torch")

L2 = 1 << 16


def glu(x: Any) -> Any:
    return torch.nn.functional.gelu(x) + torch.nn.functional.silu(x) - (-x).relu()


def attention(x: Any) -> Any:
    hidden = torch.ones(4, 4).triu(1) > 0
    return torch.softmax((x @ x.T).masked_fill(hidden, -math.inf), -1)


SIZES = {"m": 48, "n": 40, "k": 64}


def buffers(plan: Plan | None = None) -> Buffers:
    return Buffers(TorchArrays("cpu"), gemm(), plan or Plan("gemm", "g"), SIZES, SIZES, L2)


def test_sets_pass_three_times_the_l2_and_differ() -> None:
    made = buffers()
    assert len(made.sets) * made.bytes > 3 * L2
    first, second = made.sets[0]["a"], made.sets[1]["a"]
    assert first.dtype == torch.bfloat16 and first.shape == (48, 64)
    assert not torch.equal(first, second)
    assert abs(float(first.float().std()) - 1) < 0.05


def test_rows_are_as_far_apart_as_the_kernel_asks() -> None:
    (*_, d) = gemm().tensors
    assert dense(d, {"m": 4, "n": 12, "k": 1}).strides == (16, 1)
    assert dense(d, {"m": 4, "n": 16, "k": 1}).strides == (16, 1)


def test_outputs_are_poisoned() -> None:
    made = buffers()
    made.poison()
    assert bool(torch.isnan(made.sets[0]["d"]).all())
    assert not bool(torch.isnan(made.sets[0]["a"]).any())


def test_inputs_are_made_as_the_spec_says() -> None:
    made = buffers(Plan("gemm", "g", inputs={"a": Input("zeros"), "b": Input("range", (2.0, 3.0))}))
    assert not bool(made.sets[0]["a"].any())
    assert float(made.sets[0]["b"].min()) >= 2.0 and float(made.sets[0]["b"].max()) <= 3.0


def test_a_number_is_taken_from_the_case_or_asked_for() -> None:
    made = Buffers(
        TorchArrays("cpu"), norm(), Plan("n", "n"), {"rows": 4, "eps": 0.5}, {"rows": 4, "eps": 1}, 1
    )
    assert made.sets[0]["eps"] == 0.5
    with pytest.raises(PlanError, match=r"write `-D eps=\.\.\.`"):
        Buffers(TorchArrays("cpu"), norm(), Plan("n", "n"), {"rows": 4}, {"rows": 4}, 1)


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("a @ b.T", "torch.matmul(a, b.T, out=d)"),
        ("a @ b.T + bias", "torch.addmm(bias, a, b.T, out=d)"),
        ("bias + a @ b.T", "torch.addmm(bias, a, b.T, out=d)"),
        ("relu(a @ b.T + bias)", "torch, eagerly: relu((a @ b.T) + bias)"),
        ("2 * (a @ b.T)", "torch, eagerly: 2 * (a @ b.T)"),
    ],
)
def test_how_a_product_goes_to_cublas(reference: str, words: str) -> None:
    arrays: dict[str, Any] = {
        "a": torch.randn(4, 6),
        "b": torch.randn(5, 6),
        "bias": torch.randn(5),
        "d": torch.full((4, 5), math.nan),
    }
    said, run = cublas(torch, "d", parse(reference), arrays)
    assert said == words
    found = run(arrays)
    wanted = evaluate(torch, parse(reference), arrays)
    assert torch.allclose(found, wanted, atol=1e-5)
    if "out=d" in words:
        assert found.data_ptr() == arrays["d"].data_ptr()


def test_what_is_no_product_is_no_race_with_cublas() -> None:
    for reference in ("a + a", "(a @ a) @ a"):
        with pytest.raises(PlanError, match="has not one product; race `torch`"):
            cublas(torch, "d", parse(reference), {"a": torch.eye(3)})


def test_a_reference_that_computes_nothing_is_a_copy() -> None:
    arrays = {"x": torch.randn(4, 6), "y": torch.zeros(4, 6)}
    words, run = eager(torch, "y", parse("x"))
    run(arrays)
    assert words == "y.copy_(x)"
    assert torch.equal(arrays["y"], arrays["x"])


@pytest.mark.parametrize(
    ("reference", "wanted"),
    [
        ("softmax(x)", lambda x: torch.softmax(x, -1)),
        ("x * rsqrt(mean(x * x, -1) + 1e-6)", lambda x: torch.nn.functional.rms_norm(x, (6,), eps=1e-6)),
        ("where(x > 0, x, 0.5 * x)", lambda x: torch.nn.functional.leaky_relu(x, 0.5)),
        ("gelu(x) + silu(x) - relu(-x)", glu),
        ("max(x) + sum(x) / 2", lambda x: x.amax(-1, keepdim=True) + x.sum(-1, keepdim=True) / 2),
        ("softmax(causal(x @ x.T))", attention),
    ],
)
def test_references_are_what_torch_calls_them(reference: str, wanted: Any) -> None:
    x = torch.randn(4, 6)
    assert torch.allclose(evaluate(torch, parse(reference), {"x": x}), wanted(x), atol=1e-5)
    with pytest.raises(PlanError, match="reads `x`, which is neither"):
        evaluate(torch, parse(reference), {})
