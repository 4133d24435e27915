"""What lies behind a row: TMA stores end at whole 16 bytes, so either rows do, or the bytes are promised."""

from __future__ import annotations

import pytest

from tests.emit.kernels import document, plan, program_of, small
from tsc.emit import manifest

COPY = """  copy:
    warps: 1
    schedule:
      - acquire: r
      - {{tma_load: x, at: [0, "{at}"], to: r}}
      - commit: r
      - wait: r
      - {{{store}: {target}, at: [0, "{at}"], from: r{rows}}}
      - store_wait: 0
      - release: r
"""


def spec(
    shape: str,
    *,
    at: str = "block.x * 64",
    store: str = "tma_store",
    dtype: str = "bf16",
    more: str = "",
    rows: str = "",
    rest: str = "",
    target: str = "y",
) -> str:
    """A copy of boxes of 64 columns from `x` to `y`, which has this shape and these promises."""
    return small(
        COPY.format(at=at, store=store, rows=rows, target=target),
        f"  r: {{kind: smem, stages: 1, dtype: {dtype}, shape: [8, 64], swizzle: none}}",
        f"params:\n  x: {{dtype: {dtype}, shape: {shape}}}\n"
        f"  y: {{dtype: {dtype}, shape: {shape}{more}}}\n{rest}",
        "launch: {grid: [4]}",
    )


def assertions(text: str) -> dict[str, str]:
    """What the loader asserts of a spec from which a kernel can be made."""
    assert plan(text).refusals == ()
    return {one["expr"]: one["text"] for one in manifest(program_of(document(text)))["asserts"]}


@pytest.mark.parametrize(
    ("shape", "more", "asserted"),
    [
        ("[m, n]", {}, "n % 8 == 0"),
        ("[m, n]", {"dtype": "f32"}, "n % 4 == 0"),
        ("[m, n]", {"dtype": "e4m3"}, "n % 16 == 0"),
        ("[m, n]", {"store": "tma_reduce"}, "n % 8 == 0"),
        ("[m, n]", {"rows": ", rows: m"}, "n % 8 == 0"),
        ("[m, n]", {"rest": "dims: {n: {multiple_of: 4}}"}, "n % 8 == 0"),
        ("[m, n + 1]", {}, "(n + 1) % 8 == 0"),
        ("[m, n * 2]", {}, "(n * 2) % 8 == 0"),
    ],
)
def test_rows_are_asserted_to_end_at_whole_16_bytes(shape: str, more: dict[str, str], asserted: str) -> None:
    found = assertions(spec(shape, **more))
    assert list(found) == [asserted]
    assert " writes rows of `y` in whole 16 bytes: make `" in found[asserted]
    assert found[asserted].endswith(", promise `padded: true` of `y`, or store by threads")


@pytest.mark.parametrize(
    ("shape", "more"),
    [
        ("[m, n]", {"more": ", padded: true"}),
        ("[m, n]", {"more": ", padded: true", "store": "tma_reduce"}),
        ("[m, 129]", {"more": ", padded: true"}),
        ("[m, 136]", {}),
        ("[m, n * 8]", {}),
        ("[m, n]", {"rest": "dims: {n: {multiple_of: 8}}"}),
    ],
)
def test_nothing_is_asserted_of_rows_that_are_padded_or_whole(shape: str, more: dict[str, str]) -> None:
    assert assertions(spec(shape, **more)) == {}


def test_a_box_that_ends_before_the_tensor_needs_nothing() -> None:
    assert assertions(spec("[m, 257]")) == {}
    assert assertions(spec("[m, n]", at="0", rest="dims: {n: {min: 64}}")) == {}
    assert list(assertions(spec("[m, n]", at="0", rest="dims: {n: {min: 63}}"))) == ["n % 8 == 0"]


@pytest.mark.parametrize("store", ["tma_store", "tma_reduce"])
def test_rows_that_never_end_at_whole_16_bytes_are_refused(store: str) -> None:
    (found,) = plan(spec("[m, 129]", store=store)).refusals
    assert found.rule == "box-inside-16-bytes"
    assert found.sentence == (
        f"`{store}` writes rows of `y` in whole 16 bytes, and one of `129` elements ends inside them"
    )
    assert found.help == "make `129` a multiple of 8, promise `padded: true` of `y`, or store by threads"
    assert len(plan(spec("[m, n * 8 + 1]", store=store)).refusals) == 1


SMALL = "dims: {m: {max: 4096}}"


@pytest.mark.parametrize(
    ("dtype", "at", "unit", "store"),
    [
        ("bf16", "block.x * 4", 8, "tma_store"),
        ("bf16", "block.x * 4", 8, "tma_reduce"),
        ("bf16", "min(block.x * 64, 63)", 8, "tma_store"),
        ("f32", "block.x * 2", 4, "tma_reduce"),
        ("e4m3", "block.x * 8", 16, "tma_store"),
        ("bf16", "m * 8 + 1", 8, "tma_store"),
    ],
)
def test_a_box_that_may_begin_inside_16_bytes_is_refused(dtype: str, at: str, unit: int, store: str) -> None:
    found = plan(spec("[m, 4096]", store=store, dtype=dtype, at=at, rest=SMALL)).refusals
    assert [fault.sentence for fault in found] == [
        f"`{verb}` begins at whole 16 bytes of a row, {unit} elements of `{name}`, and `{at}` may be no "
        f"multiple of {unit}"
        for verb, name in (("tma_load", "x"), (store, "y"))
    ]
    assert {fault.rule for fault in found} == {"box-inside-16-bytes"}
    assert {fault.help for fault in found} == {f"make it a multiple of {unit}, or copy by threads"}


@pytest.mark.parametrize("at", ["block.x * 8", "min(block.x * 64, 128)", "m * 8", "block.x * 4 // 8 * 8"])
def test_a_box_that_begins_at_whole_16_bytes_needs_nothing(at: str) -> None:
    assert assertions(spec("[m, 4096]", at=at, rest=SMALL)) == {}


def test_where_dims_place_a_box_the_loader_asserts_them() -> None:
    found = assertions(spec("[m, 4096]", at="block.x * 64 + m", rest=SMALL))
    begins = "that `tma_load` of `x` begins at whole 16 bytes of a row needs `m` to be a multiple of 8"
    assert found == {"m % 8 == 0": begins}


def test_of_a_workspace_nothing_is_promised() -> None:
    text = spec("[m, n]", target="w", rest="workspace: {w: {dtype: bf16, shape: [8, n]}}")
    assert assertions(text) == {"n % 8 == 0": "the rows of `w` are multiples of 16 bytes"}
    text = spec("[m, n]", target="w", rest="workspace: {w: {dtype: bf16, shape: [8, 129]}}")
    (found,) = plan(text).refusals
    assert found.help == "make `129` a multiple of 8, or store by threads"


def test_the_manifest_says_what_is_padded() -> None:
    params = manifest(program_of(document(spec("[m, n]", more=", padded: true"))))["params"]
    assert [param.get("padded") for param in params] == [None, True]
