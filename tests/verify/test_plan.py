"""Plans as JSON, which cases are run, and where tensors lie."""

from __future__ import annotations

import json

import pytest

from tests.runtime.manifests import tensor
from tsc.artifact.manifest import Tensor
from tsc.verify.choose import chosen, values_of
from tsc.verify.layout import as_run, lay_out
from tsc.verify.plan import Function, Input, Plan, PlanError, from_json, to_json

PLAN = Plan(
    kernel="gemm",
    spec="gemm.tsc.yaml",
    reference={"d": "a @ b.T"},
    cases=({"m": 128, "eps": 1e-6, "flag": True}, {"m": 1}),
    inputs={"a": Input("zeros"), "o": Input("lengths", (0, 5)), "b": Input("range", (-1.5, 2))},
    rtol=1e-3,
)


def test_a_plan_comes_back() -> None:
    assert from_json(to_json(PLAN)) == PLAN
    function = Plan("k", "s", python=Function("f.py", "f", "def f(): pass"), atol=0.5)
    assert from_json(to_json(function)) == function


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "`p.json` is no JSON"),
        ("[]", "`p.json` is no plan of `tsc verify --prepare`"),
        ('{"plan": 2}', "is a plan of version 2, and this tsc reads version 1"),
        ('{"plan": 1}', "is a damaged plan: KeyError at 'kernel'"),
        (
            '{"plan": 1, "kernel": "k", "spec": "s", "cases": [{"m": "1"}]}',
            "is a damaged plan: TypeError at `1`",
        ),
        (
            '{"plan": 1, "kernel": "k", "spec": "s", "cases": [], "inputs": {"a": {"x": 1}}}',
            "ValueError at `x`",
        ),
    ],
)
def test_what_is_no_plan_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(PlanError) as error:
        from_json(text, "p.json")
    assert sentence in str(error.value)


def test_a_reference_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(PlanError, match="cannot be read: `blub` is not a function"):
        Plan("k", "s", reference={"d": "blub(a)"}).trees()


def test_cases_are_chosen() -> None:
    assert chosen(PLAN, ()) == [(1, PLAN.cases[0]), (2, PLAN.cases[1])]
    assert chosen(PLAN, ("2",)) == [(2, PLAN.cases[1])]
    assert chosen(PLAN, ("m=7, eps=1e-3", "1", "m=-1,flag=false")) == [
        (3, {"m": 7, "eps": 1e-3, "flag": True}),
        (1, PLAN.cases[0]),
        (4, {"m": -1, "eps": 1e-6, "flag": False}),
    ]


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ("3", "there is no case 3: `gemm.tsc.yaml` has cases 1 to 2"),
        ("0", "there is no case 0"),
        ("m", "`m` is no value of a case"),
        ("m=x", "`m=x` is no value of a case"),
        (" ", "is no case; write its number"),
    ],
)
def test_a_wrong_choice_is_refused(choice: str, sentence: str) -> None:
    with pytest.raises(PlanError) as error:
        chosen(PLAN, (choice,))
    assert sentence in str(error.value)


def test_no_cases_at_all_are_refused() -> None:
    with pytest.raises(PlanError, match="has no `verify"):
        chosen(Plan("k", "s"), ())
    assert values_of("m=1") == {"m": 1}


def given(*shape: str, **more: object) -> Tensor:
    table = tensor("x", *shape, **more)
    del table["kind"]
    return Tensor(**{key: tuple(one) if isinstance(one, list) else one for key, one in table.items()})


@pytest.mark.parametrize(
    ("shape", "more", "strides"),
    [
        (("3", "65"), {"stride_multiple": 8}, (80, 1)),
        (("3", "64"), {"stride_multiple": 8}, (72, 1)),
        (("3", "64"), {"packed": True, "stride_multiple": 8}, (64, 1)),
        (("3", "64"), {"order": [1, 0]}, (1, 4)),
        (("2", "3", "10"), {"stride_multiple": 4}, (48, 16, 1)),
        (("7",), {}, (1,)),
        ((), {}, ()),
        (("3", "6"), {"dtype": "i4"}, (8, 1)),
        (("3", "65"), {"padded": True}, (80, 1)),
        (("3", "65"), {"padded": True, "stride_multiple": 12}, (96, 1)),
    ],
)
def test_rows_lie_apart_where_they_may(
    shape: tuple[str, ...], more: dict[str, object], strides: tuple[int, ...]
) -> None:
    layout = lay_out(given(*shape, **more), {})
    assert layout.strides == strides
    last = sum((extent - 1) * stride for extent, stride in zip(layout.shape, strides, strict=True))
    bits = 4 if layout.dtype == "i4" else 16
    assert layout.offset == 1024 and layout.bytes >= 2048 + (last + 1) * bits // 8
    assert layout.bytes % 16 == 0


def test_the_padding_of_a_row_is_its_own() -> None:
    assert lay_out(given("3", "65", padded=True), {}).owned.shape == (3, 72)
    assert lay_out(given("65", "3", padded=True, order=[1, 0]), {}).owned.shape == (72, 3)
    assert lay_out(given("3", "64", padded=True), {}).owned.shape == (3, 64)
    assert lay_out(given("3", "65"), {}).owned.shape == (3, 65)
    assert lay_out(given(padded=True), {}).owned.shape == ()


def test_a_base_that_has_to_be_aligned_farther_is() -> None:
    assert lay_out(given("3", "4", align=4096), {}).offset == 4096


def test_a_wrong_extent_is_refused() -> None:
    with pytest.raises(PlanError, match="the extent `m - 9` of `x` is -1 in this case"):
        lay_out(given("m - 9"), {"m": 8})
    with pytest.raises(PlanError, match="has no value"):
        lay_out(given("m // n"), {"m": 8, "n": 0})


def test_a_size_that_was_fixed_when_built_stays_so() -> None:
    from tests.verify.conftest import described

    built = described(
        params=[tensor("x", "m", "k"), tensor("y", "m")], arguments=[], constants={"k": 64, "BM": 8}
    )
    assert as_run(built, {"m": 3, "k": 128}) == {"m": 3, "k": 64}
    with pytest.raises(PlanError, match="the kernel takes no `M`; its sizes and numbers are `m`"):
        as_run(built, {"M": 3})


def test_json_is_for_people_too() -> None:
    assert json.loads(to_json(PLAN))["inputs"]["a"] == {"zeros": True}
