"""Who arrives, how often, and which stages a lane takes: one answer for counts, code and proof."""

from __future__ import annotations

from itertools import product

import pytest

from tests.emit.kernels import document, program_of, small
from tsc.emit.assemble import plan_kernel
from tsc.program.arrivals import arrivals, who
from tsc.program.model import RingUse, Task
from tsc.prove.translate.system import translate

TASK = Task("t", "t", (), 0, None, 1, 8, 0, None, "all", (), False)
READS = [frozenset(each) for each in ((), ("thread",), ("store",), ("wgmma",), ("store", "wgmma"))]
WRITES = [frozenset(each) for each in ((), ("thread",), ("tma",), ("cp_async",), ("tma", "thread"))]


def use(reads: frozenset[str] = frozenset(), writes: frozenset[str] = frozenset()) -> RingUse:
    return RingUse(
        "t", "r", 0, bool(writes), bool(writes), bool(reads), bool(reads), False, False, reads, writes
    )


@pytest.mark.parametrize(("first", "second"), list(product(READS, READS)))
def test_rings_that_share_a_barrier_are_given_back_as_the_most_careful_of_them(
    first: frozenset[str], second: frozenset[str]
) -> None:
    uses = [use(first), use(second)]
    # A ring without payload stands for what threads do elsewhere.
    each = {by for one in (first, second) for by in one or ("thread",)}
    expected = "leader" if each == {"store"} else "warpgroups" if each == {"wgmma"} else "warps"
    assert who(TASK, uses, "read") == expected
    assert arrivals(TASK, uses, "read") == {"leader": 1, "warpgroups": 2, "warps": 8}[expected]


@pytest.mark.parametrize(("first", "second"), list(product(WRITES, WRITES)))
def test_rings_that_share_a_barrier_are_handed_over_by_whoever_fills_any_of_them(
    first: frozenset[str], second: frozenset[str]
) -> None:
    uses = [use(writes=first), use(writes=second)]
    each = {by for one in (first, second) for by in one or ("thread",)}
    expected = "threads" if "cp_async" in each else "leader" if each == {"tma"} else "warps"
    assert who(TASK, uses, "write") == expected
    assert arrivals(TASK, uses, "write") == {"leader": 1, "threads": 256, "warps": 8}[expected]


def test_threads_that_read_what_they_have_acquired_arrive_themselves() -> None:
    both = RingUse(
        "t", "r", 0, True, True, False, False, False, False, frozenset(("thread",)), frozenset(("tma",))
    )
    assert (who(TASK, [both], "write"), who(TASK, [use(writes=frozenset(("tma",)))], "write")) == (
        "warps",
        "leader",
    )


GROUP = """
  fill:
    warps: 2
    schedule: [{do: note}, {acquire: a}, {acquire: s}, {bulk_load: x, at: [0, 0], to: a}, {commit: pair}]
  use:
    warps: 4
    schedule:
      - do: note
      - wait: a
      - wait: s
      - {bulk_store: y, at: [0, 0], from: a}
      - store_wait: 0
      - release: a
      - release: s
"""
RINGS = """
  a: {kind: smem, stages: 2, dtype: f32, shape: [64]}
  s: {kind: smem, stages: 2, dtype: f32, shape: [64]}
  pair: {kind: fork, of: [a, s]}
"""
PARAMS = """params: {x: {dtype: f32, shape: [n, 64]}, y: {dtype: f32, shape: [n, 64]}}
work: {note: {writes: [y], cuda: 'y(1, task.thread) = 0.f;'}}"""


def test_a_fork_of_a_loaded_ring_and_one_that_nothing_is_written_to() -> None:
    text = small(GROUP, RINGS.strip("\n"), PARAMS)
    program = program_of(document(text))
    counts = {one.name: one.arrivals for one in plan_kernel(program, document=document(text)).barriers}
    # Each warp of `fill` hands over; the leader of `use` gives `a` back, its warps `s`.
    assert counts == {"pair.full": 2, "a.empty": 1, "s.empty": 4}
    proved = {barrier.name: barrier.count for barrier in translate(program).system.barriers}
    assert {name: proved[name] for name in counts} == counts
