"""Dims that are 0 in a kernel that runs: what the manifest says, and what is known of all others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.emit.kernels import HEADER, document, program_of
from tsc.check import Report, check_reading
from tsc.emit import manifest
from tsc.source.reader import parse
from tsc.spec.overrides import parse_overrides

BODY = """\
launch: {grid: [n]}
resources:
  v: {kind: registers, dtype: f32, per_thread: 1}
tasks:
  sum:
    warps: 4
    schedule:
      - domain_loop: k
        body: [{load: v, from: x, at: [block.x, loop]}]
      - {store: y, from: v, at: [block.x]}
"""


def spec(dims: str, shape: str = "n, k") -> str:
    params = f"{{x: {{dtype: f32, shape: [{shape}]}}, y: {{dtype: f32, shape: [n]}}}}"
    return f"{HEADER}params: {params}\n{dims}{BODY}"


def checked(text: str) -> Report:
    return check_reading(parse(text, "spec.tsc.yaml", "yaml"), parse_overrides((), ()))


def dims_of(text: str) -> dict[str, Any]:
    found: dict[str, Any] = manifest(program_of(document(text)), document=document(text))["dims"]
    return found


def test_min_0_is_told_to_the_loader() -> None:
    plain = {"min": 0, "max": 2**31 - 1, "multiple_of": 1}
    assert dims_of(spec("")) == {"n": plain, "k": plain}
    assert dims_of(spec("dims: {k: {min: 0}}\n")) == {"n": plain, "k": {**plain, "runs_at_zero": True}}
    assert dims_of(spec("dims: {k: {min: 3}}\n"))["k"] == {**plain, "min": 3}


def test_a_loop_without_a_round_is_followed_where_it_runs() -> None:
    assert checked(spec("")).found == ()
    assert [it.name for it in checked(spec("dims: {k: {min: 0}}\n")).found] == ["register-read-before-write"]


@pytest.mark.parametrize(
    ("shape", "least"),
    [("n, k", 1), ("n, k * 4", 1), ("n, k // 4", 1), ("n, n * k", 1), ("n, k + 1", 0), ("n, k + n", 0)],
)
def test_a_dim_is_one_at_least_where_its_tensor_would_be_empty(shape: str, least: int) -> None:
    assert program_of(document(spec("", shape))).ranges["k"].lo == least


def test_it_is_no_promise_of_the_author() -> None:
    judgement = checked(spec("")).judgement
    assert judgement is not None and judgement.outcome == "proved" and judgement.promises == ()
