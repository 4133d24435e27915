"""Registers of warpgroups: what a CTA starts with is all that setmaxnreg moves."""

from __future__ import annotations

import pytest

from tests.emit.kernels import cuda, document, program_of, small
from tsc.emit.roles import launch_registers, register_pool, warpgroup_registers
from tsc.toolchain.build import compile_source

RANGE = range(1, 9)
STEPS = "schedule: [{zero: v}, {store: y, from: v, at: [thread]}]"


def spec(groups: int, ctas: int, registers: int) -> str:
    tasks = f"  a: {{warps: 4, registers: {registers}, {STEPS}}}\n"
    tasks += f"  b: {{warps: {4 * groups - 4}, {STEPS}}}\n" if groups > 1 else ""
    return small(
        tasks,
        "  v: {kind: registers, dtype: f32, per_thread: 1}",
        "params: {y: {dtype: f32, shape: [n]}}",
        f"launch: {{grid: [1], ctas_per_sm: {ctas}}}",
    )


@pytest.mark.parametrize("groups", RANGE)
@pytest.mark.parametrize("ctas", [1, 2])
@pytest.mark.parametrize("registers", [24, 128, 240])
def test_no_more_registers_are_handed_out_than_there_are(groups: int, ctas: int, registers: int) -> None:
    program = program_of(document(spec(groups, ctas, registers)))
    counts = warpgroup_registers(program)
    assert len(counts) == groups and counts[0] == registers
    if registers * 128 + 24 * 128 * (groups - 1) <= register_pool(program):
        assert sum(counts) * 128 <= register_pool(program) <= 65_536 // ctas


@pytest.mark.parametrize(("groups", "ctas"), [(1, 1), (2, 1), (3, 1), (5, 1), (6, 1), (7, 1), (3, 2), (5, 2)])
def test_the_compiler_starts_as_many_as_are_counted_on(groups: int, ctas: int) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    found = document(spec(groups, ctas, 24))
    used = compile_source(cuda(found), {}, "sm_90a").usage.registers
    # 255 is the most that a thread can name; registers are set aside in eights.
    assert -(-used // 8) * 8 == launch_registers(program_of(found))
