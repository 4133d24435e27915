"""Dims are found from shapes, whichever way round the spec writes an extent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.runtime.manifests import dim, manifest, tensor
from tsc.artifact.manifest import decode_manifest
from tsc.runtime.dims import infer
from tsc.runtime.errors import LaunchError
from tsc.runtime.signature import Signature, TensorParam, signature_of


def signature(*shapes: list[str], **changes: Any) -> Signature:
    params = [tensor(name, *shape) for name, shape in zip("xyz", shapes, strict=False)]
    return signature_of(decode_manifest(json.dumps(manifest(params=params, **changes)).encode()))


def inferred(of: Signature, *shapes: tuple[int, ...], **given: int) -> dict[str, int | bool]:
    tensors = [param for param in of.params if isinstance(param, TensorParam)]
    env = infer(of, list(zip(tensors, shapes, strict=True)), given, {"sms": 132})
    return {name: env[name] for name in of.manifest.dims}


@pytest.mark.parametrize(
    ("extent", "of_extent"),
    [
        ("n + 1", lambda n: n + 1),
        ("n - 3", lambda n: n - 3),
        ("n * 4", lambda n: 4 * n),
        ("HEADS * n", lambda n: 6 * n),
        ("n * 2 + 1", lambda n: 2 * n + 1),
        ("n // 2", lambda n: n // 2),
        ("n // HEADS", lambda n: n // 6),
    ],
)
@given(factor=st.integers(1, 2**40))
def test_an_extent_is_solved_for_its_dim(extent: str, of_extent: Any, factor: int) -> None:
    # A multiple of every divisor above, so that each quotient is exact.
    n = 12 * factor
    of = signature([extent], dims={"n": dim(high=2**62)}, constants={"HEADS": 6})
    assert inferred(of, (of_extent(n),)) == {"n": n}


@pytest.mark.parametrize(
    ("extent", "given", "sentence"),
    [
        ("n * 4", 30, "dimension 0 of `x` is 30, and `n * 4` is that for no `n`"),
        ("n + 1", 0, "dimension 0 of `x` is 0, and `n + 1` is that for no `n`"),
        ("HEADS * n", 3, "dimension 0 of `x` is 3, and `HEADS * n` is that for no `n`"),
        ("n // 2 * 2 + 1", 2, "dimension 0 of `x` is 2, and `n // 2 * 2 + 1` is that for no `n`"),
    ],
)
def test_an_extent_without_a_solution_is_refused(extent: str, given: int, sentence: str) -> None:
    of = signature([extent], dims={"n": dim()}, constants={"HEADS": 6})
    with pytest.raises(LaunchError) as refusal:
        inferred(of, (given,))
    assert str(refusal.value) == sentence


def test_zero_is_solved_too() -> None:
    assert inferred(signature(["n * 4"], dims={"n": dim()}), (0,)) == {"n": 0}


def test_bare_names_bind_before_anything_is_solved() -> None:
    of = signature(["m * n"], ["n + 1", "m"], dims={"m": dim(), "n": dim()})
    assert inferred(of, (12,), (4, 4)) == {"m": 4, "n": 3}
    with pytest.raises(LaunchError) as refusal:
        inferred(of, (13,), (4, 4))
    assert str(refusal.value) == ("dimension 0 of `x` is 13, and `m * n` is that for no `n`")


def test_a_later_extent_is_held_against_a_bound_dim() -> None:
    of = signature(["n"], ["n + 1"], dims={"n": dim()})
    assert inferred(of, (4,), (5,)) == {"n": 4}
    with pytest.raises(LaunchError) as refusal:
        inferred(of, (4,), (4,))
    assert str(refusal.value) == (
        "`y` has extent 4 in dimension 0, where `n + 1` is 5 (`n` is 4 by dimension 0 of `x`)"
    )


def test_a_quotient_is_exact() -> None:
    of = signature(["n"], ["n // 2"], dims={"n": dim()})
    assert inferred(of, (8,), (4,)) == {"n": 8}
    with pytest.raises(LaunchError) as refusal:
        inferred(of, (9,), (4,))
    assert str(refusal.value) == (
        "`n` is 9 by dimension 0 of `x`, and `n // 2` leaves a remainder; pass one that divides"
    )


@pytest.mark.parametrize(
    ("extent", "sentence"),
    [
        ("64", "`x` has extent 63 in dimension 0, where the kernel is built for 64"),
        ("ROWS", "`x` has extent 63 in dimension 0, where the kernel is built for `ROWS` = 64"),
        ("ROWS * 2", "`x` has extent 63 in dimension 0, where the kernel is built for `ROWS * 2` = 128"),
    ],
)
def test_a_constant_extent_is_checked(extent: str, sentence: str) -> None:
    of = signature([extent], constants={"ROWS": 64})
    with pytest.raises(LaunchError) as refusal:
        inferred(of, (63,))
    assert str(refusal.value) == sentence


def test_an_extent_with_two_unknown_dims_needs_one_by_name() -> None:
    of = signature(["m * n"], dims={"m": dim(), "n": dim()})
    assert inferred(of, (12,), m=3) == {"m": 3, "n": 4}
    with pytest.raises(LaunchError) as refusal:
        inferred(of, (12,))
    assert str(refusal.value) == "`m` and `n` follow from no shape; pass `m=...`, `n=...`"


def test_extents_above_32_bits_are_kept() -> None:
    assert inferred(signature(["n"], dims={"n": dim(high=2**40)}), (2**33,)) == {"n": 2**33}
