"""Conditions that mix a route and what the call has made a constant: they hold for what is built."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsc.check import Proof, check_file
from tsc.spec.overrides import parse_overrides
from tsc.tune.compile import Job, Outcome, examine, thrown_out_at_once
from tsc.tune.space import points

SPEC = """\
tsc: 1
kernel: twice
target: sm_90a
constants: {WARPS: 4}
params:
  y: {dtype: f32, shape: [n]}
launch: {grid: ["cdiv(n, WARPS * 32)"]}
resources: {}
work:
  put:
    writes: [y]
    cuda: |
      const int i = blockIdx.x * task.threads + task.thread;
      if (i < n) y(i) = 1;
tasks:
  twice: {warps: WARPS, schedule: [{do: put}]}
tune:
  try: {TRIED, launch.ctas_per_sm: [1, 2]}
  where: [CONDITION]
  cases: [{n: 64}]
"""


def outcomes(place: Path, tried: str, condition: str, *defines: str) -> tuple[list[str], list[str]]:
    """The points that a condition throws out: at once, and when each is examined."""
    path = place / "twice.tsc.yaml"
    path.write_text(SPEC.replace("TRIED", tried).replace("CONDITION", condition), encoding="utf-8")
    base = parse_overrides(defines, [])
    report = check_file(str(path), overrides=base, proof=Proof(wanted=False))
    spec = report.spec
    assert spec is not None and spec.tune is not None and report.diagnostics == ()
    space = list(points(spec.tune))
    job = Job(str(path), base, Proof(wanted=False))

    def told(found: list[Outcome]) -> list[str]:
        assert {it.rule for it in found} <= {"tune.where"}, found
        return [it.point for it in found]

    return (
        told(list(thrown_out_at_once(space, spec, base))),
        told([it for it in (examine(job, point) for point in space) if not it.fits]),
    )


@pytest.mark.parametrize(
    ("tried", "condition", "defines", "out"),
    [
        ("WARPS: [4]", "launch.ctas_per_sm * n <= 64", ["n=64"], ["p0001"]),
        ("n: [32, 64]", "launch.ctas_per_sm * n <= 64", [], ["p0003"]),
        ("n: [32, 64]", "launch.ctas_per_sm * n <= 64", ["n=64"], ["p0001", "p0003"]),
        ("WARPS: [2, 4]", "launch.ctas_per_sm * WARPS <= 4", ["WARPS=4"], ["p0001", "p0003"]),
    ],
)
def test_a_route_with_a_size_that_is_a_constant(
    tmp_path: Path, tried: str, condition: str, defines: list[str], out: list[str]
) -> None:
    assert outcomes(tmp_path, tried, condition, *defines) == (out, out)
