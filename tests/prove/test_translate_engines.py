"""Engines of a translated program: copies, stores and products, and what proves them finished."""

from __future__ import annotations

from tests.prove.translated import COPY, agent, alarms, barrier, every, of_file, only, translated
from tsc.prove.machine import Arrive, Drain, Fence, Touch


def test_copies_arrive_when_they_have_landed() -> None:
    text = COPY.replace("bulk_load", "cp_async").replace(
        "      load:\n        warps: 1", "      load:\n        warps: 2"
    )
    found = translated(text)
    load = agent(found, "load")
    assert barrier(found, "xs", "full").count == only(load, Arrive).weight == 64
    assert only(load, Arrive).engine == only(load, Touch).engine == 0
    assert [one.proxy for one in load.engines] == [False]
    assert alarms(text) == []


def test_store_holds_its_stage_until_it_is_waited_for() -> None:
    text = COPY.replace("{do: use}, ", "{bulk_store: y, at: [loop, 0], from: xs}, {store_wait: 1}, ")
    use = agent(translated(text.replace("warps: 4", "warps: 1")), "use")
    assert [one.name for one in use.engines] == ["stores, reading"]
    assert only(use, Drain).keep == 1
    assert alarms(text.replace("warps: 4", "warps: 1")) == ["race"]
    assert alarms(text.replace("store_wait: 1", "store_wait: 0")) == []


def test_store_ring_waits_for_its_engine() -> None:
    found = of_file("specs/norm/rmsnorm.tsc.yaml")
    [drain] = [one for one in every(agent(found, "compute"), Drain)]
    stages = found.program.memories["ys"].stages
    assert stages is not None and drain.keep == stages - 1
    assert not any(source.owner == "ys" for source in found.barriers)
    assert any(isinstance(one, Fence) for one in every(agent(found, "compute"), Fence))


WGMMA = """
    params: {a: {dtype: bf16, shape: [m, k]}, d: {dtype: f32, shape: [m, 128]}}
    launch: {grid: [1]}
    dims: {k: {min: 1}}
    resources:
      ab:
        kind: smem
        stages: 4
        buffers: {a: {dtype: bf16, shape: [64, 64]}, b: {dtype: bf16, shape: [128, 64]}}
      acc: {kind: registers, dtype: f32, shape: [64, 128]}
    work:
      twice: {updates: [acc], cuda: "for (int i = 0; i < acc.size; ++i) acc[i] *= 2;"}
    tasks:
      math:
        warps: 4
        schedule:
          - domain_loop: cdiv(k, 64)
            body:
              - wait: ab
              - {wgmma: acc, a: ab.a, b: ab.b, accumulate: iter > 0}
              - wgmma_wait: 1
              - {release: ab, keep: 1}
          - wgmma_wait: 0
          - release: ab
          - do: twice
          - {store: d, from: acc}
      load:
        warps: 1
        schedule:
          - domain_loop: cdiv(k, 64)
            body:
              - acquire: ab
              - {tma_load: a, at: [0, loop * 64], to: ab.a}
              - {tma_load: a, at: [0, loop * 64], to: ab.b}
              - commit: ab
"""


def test_products_run_until_they_are_waited_for() -> None:
    assert alarms(WGMMA) == []
    assert alarms(WGMMA.replace("{release: ab, keep: 1}", "release: ab")) == ["race"]
    # The accumulator is a place of its own: threads touch it while products run.
    assert alarms(WGMMA.replace("          - wgmma_wait: 0\n", "").replace("keep: 1", "keep: 2")) == ["race"]
    assert barrier(translated(WGMMA), "ab", "empty").count == 1


def test_tensor_core_arrives_by_its_engine() -> None:
    found = of_file("tests/rules/accept/persistent_from_hardware.tsc.yaml")
    arrivals = [one for agent_ in found.system.agents for one in every(agent_, Arrive)]
    assert all(one.engine is None for one in arrivals)
    blackwell = translated(BLACKWELL, head="tsc: 1\nkernel: k\ntarget: sm_100a\n")
    mma = agent(blackwell, "mma")
    assert [one.engine for one in every(mma, Arrive)] == [0, 0]
    assert barrier(blackwell, "acc", "full").count == 1


BLACKWELL = """
    params: {a: {dtype: bf16, shape: [m, k]}, d: {dtype: f32, shape: [m, 64]}}
    launch: {grid: [1]}
    dims: {k: {min: 1}}
    resources:
      ab:
        kind: smem
        stages: 4
        buffers: {a: {dtype: bf16, shape: [128, 64]}, b: {dtype: bf16, shape: [64, 64]}}
      acc: {kind: tmem, stages: 1, dtype: f32, shape: [128, 64]}
      out: {kind: registers, dtype: f32, shape: [128, 64]}
    tasks:
      epilogue:
        warps: 4
        schedule: [{wait: acc}, {tcgen05_ld: out, from: acc}, {release: acc}, {store: d, from: out}]
      mma:
        warps: 1
        schedule:
          - acquire: acc
          - domain_loop: cdiv(k, 64)
            body: [{wait: ab}, {tcgen05_mma: acc, a: ab.a, b: ab.b, accumulate: iter > 0}, {release: ab}]
          - commit: acc
      load:
        warps: 1
        schedule:
          - domain_loop: cdiv(k, 64)
            body:
              - acquire: ab
              - {tma_load: a, at: [0, loop * 64], to: ab.a}
              - {tma_load: a, at: [0, loop * 64], to: ab.b}
              - commit: ab
"""


def test_product_into_tensor_memory_is_proved() -> None:
    assert alarms(BLACKWELL, head="tsc: 1\nkernel: k\ntarget: sm_100a\n") == []
