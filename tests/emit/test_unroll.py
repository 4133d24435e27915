"""Unrolled loops: whole rounds of iterations, then those left; and where a loop stays as it is."""

from __future__ import annotations

import pytest

from tests.emit.kernels import cuda, document, small

PARAMS = "params: {x: {dtype: f32, shape: [n, 512]}, y: {dtype: f32, shape: [n, 512]}}"
V = "  v: {kind: registers, dtype: f32, per_thread: 4}"
COPY = ("{load: v, from: x, at: [loop, thread * 4]}", "{store: y, from: v, at: [loop, thread * 4]}")


def text(*steps: str, head: str = "domain_loop: n", step: str = "step: grid.x", unroll: int = 4) -> str:
    lines = [
        "  a:",
        "    warps: 4",
        "    schedule:",
        f"      - {head}",
        "        start: block.x",
        f"        {step}",
    ]
    lines += [f"        unroll: {unroll}", "        body:", *(f"          - {one}" for one in steps)]
    return cuda(document(small("\n".join(lines) + "\n", V, PARAMS)), headers=False)


def test_whole_rounds_ask_for_the_end_once() -> None:
    printed = text(*COPY)
    assert "for (; n - loop_base > 3 * grid_x; loop_base += 4 * grid_x) {" in printed
    assert "#pragma unroll 4\n      for (int copy = 0; copy < 4; ++copy) {" in printed
    assert "const int loop = loop_base + copy * grid_x;" in printed
    assert "for (int loop = loop_base; loop < n; loop += grid_x) {" in printed
    assert printed.count("load_registers<") == 2


def test_a_step_known_when_built_is_multiplied() -> None:
    printed = text(*COPY, step="step: 2", unroll=3)
    assert "n - loop_base > 4; loop_base += 6" in printed
    assert "loop_base + copy * 2;" in printed


@pytest.mark.parametrize(
    "steps",
    [
        (*COPY, "first_iter: [task_sync]"),
        (*COPY, "task_sync"),
        ("{load: v, from: x, at: [iter, thread * 4]}", COPY[1]),
        ("{load: v, from: x, at: [trips, thread * 4]}", COPY[1]),
        (
            COPY[0],
            "{store: y, from: v, at: [loop, (127 - thread) * 4]}",
            "{load: v, from: y, at: [loop, thread * 4]}",
        ),
    ],
)
def test_what_speaks_of_the_round_or_meets_in_it_stays_one_loop(steps: tuple[str, ...]) -> None:
    printed = text(*steps)
    assert "loop_base" not in printed and "#pragma unroll 4\n" in printed


def test_a_known_number_of_rounds_and_a_falling_loop_stay_one_loop() -> None:
    assert "loop_base" not in text(*COPY, unroll=1)
    assert "loop_base" not in text(*COPY, head="domain_loop: -1", step="step: -1")
