"""Stages that CTAs of a cluster fill for each other, round after round: each load tells its readers apart."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.emit.kernels import document, program_of
from tests.emit.test_multicast import WAYS, spec
from tests.prove.compare import disagree, kinds_of, look
from tests.prove.oracles import Fixed
from tsc.program import multicast
from tsc.program.multicast import Extents, Shared
from tsc.prove.machine import Arrive, instructions
from tsc.prove.proof import check_run, prove
from tsc.prove.translate import lines, translate

BULK = """\
tsc: 1
kernel: k
target: sm_90a
params: {x: {dtype: f32, shape: [n, 64]}, y: {dtype: f32, shape: [n]}}
launch: {cluster: {m: 2}}
resources:
  tiles: {kind: queue, policy: static, axes: {m: n}}
  xs: {kind: smem, stages: 2, dtype: f32, shape: [8, 64]}
work: {use: {reads: [xs], writes: [y], cuda: "y(0) = xs(0, 0);"}}
tasks:
  use:
    warps: 2
    schedule:
      - work_tile_loop: tiles
        body:
          - for: cdiv(n, 8)
            as: i
            body: [{wait: xs}, {do: use}, {release: xs}]
  load:
    warps: 1
    schedule:
      - work_tile_loop: tiles
        body:
          - for: cdiv(n, 8)
            as: i
            body:
              - acquire: xs
              - {bulk_load: x, at: [i * 8, 0], to: xs, rows: "min(8, n - i * 8)", multicast: m}
              - commit: xs
"""


def everybody(shared: Iterable[Shared], extents: Extents, rank: int) -> tuple[int, ...]:
    """Who was told before each load told its readers apart."""
    return multicast.reached([Shared(each.axis, False) for each in shared], extents, rank)


def alarms(text: str) -> list[str]:
    found = translate(program_of(document(text)))
    assert found.unmodelled == ()
    verdict = prove(found.system)
    assert verdict.reason == "" or verdict.alarms
    return sorted({alarm.kind for alarm in verdict.alarms})


@pytest.mark.parametrize(("a", "b"), WAYS)
@pytest.mark.parametrize("cluster", [{"m": 2, "n": 1}, {"m": 2, "n": 2}, {"m": 4, "n": 2}])
def test_every_way_to_share_is_proved_for_every_round(
    cluster: dict[str, int], a: bool | None, b: bool | None
) -> None:
    assert alarms(spec(cluster, a, b)) == []


def test_a_load_whose_length_varies_is_the_first_ones() -> None:
    assert alarms(BULK) == []
    system = translate(program_of(document(BULK))).system
    counts = {barrier.name: barrier.count for barrier in system.barriers if ".empty" in barrier.name}
    assert counts == {"xs.empty of CTA 0": 4, "xs.empty of CTA 1": 2}
    given = {
        agent.label: [len(one.barriers) for one in instructions(agent.body) if isinstance(one, Arrive)]
        for agent in system.agents
    }
    assert given == {"use in CTA 0": [1], "use in CTA 1": [2], "load in CTA 0": [2], "load in CTA 1": [1]}


def test_who_tells_every_peer_runs_ahead_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert alarms(spec({"m": 2}, None, True)) == []
    monkeypatch.setattr(lines, "reached", everybody)
    monkeypatch.setattr(lines, "fillers", everybody)
    assert alarms(spec({"m": 2}, None, False)) == []
    for text in (spec({"m": 2}, None, True), spec({"m": 2, "n": 2}, False, True), BULK):
        assert alarms(text) == ["arrive"]


@pytest.mark.parametrize("protocol", ["told", "everybody"])
@pytest.mark.parametrize("text", [BULK, BULK.replace("stages: 2", "stages: 1")])
def test_the_explorer_agrees(monkeypatch: pytest.MonkeyPatch, text: str, protocol: str) -> None:
    if protocol == "everybody":
        monkeypatch.setattr(lines, "reached", everybody)
        monkeypatch.setattr(lines, "fillers", everybody)
    system = translate(program_of(document(text))).system
    for rounds in (1, 2, 3):
        oracle = Fixed(system, 0, rounds, 1)
        outcome, kinds = look(system, oracle), kinds_of(check_run(system, oracle))
        assert not outcome.too_big and not disagree(outcome, kinds)
    assert kinds == (frozenset() if protocol == "told" else {"arrive"})


def test_a_reader_that_the_loading_cta_does_not_count_is_a_race(monkeypatch: pytest.MonkeyPatch) -> None:
    def alone(shared: Iterable[Shared], extents: Extents, rank: int) -> tuple[int, ...]:
        return (rank,)

    monkeypatch.setattr(lines, "reached", alone)
    monkeypatch.setattr(lines, "fillers", alone)
    assert alarms(spec({"m": 2}, None, True)) != []
