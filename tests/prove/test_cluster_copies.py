"""Stages that one CTA of a cluster fills for another: proved, and each part of the protocol left out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from tests.emit.kernels import document, program_of
from tests.prove.compare import disagree, kinds_of, look
from tests.prove.oracles import Fixed
from tsc.program.multicast import Extents, Shared
from tsc.prove.machine import Arrive, Block, Load, Loop, Node, System, instructions
from tsc.prove.proof import check_run, prove
from tsc.prove.translate import lines, translate

SPEC = """\
tsc: 1
kernel: k
target: sm_90a
constants: {CTAS: 2, STAGES: 1}
params: {x: {dtype: f32, shape: [n, 64]}, y: {dtype: f32, shape: [n]}}
launch: {cluster: {cta: CTAS}}
resources:
  tiles: {kind: queue, policy: static, axes: {row: n, cta: CTAS}}
  here: {kind: smem, dtype: f32, shape: [4, 64]}
  there: {kind: smem, stages: STAGES, dtype: f32, shape: [4, 64]}
work:
  fill: {reads: [x], writes: [here], cuda: "here(0, task.thread) = x(0, 0);"}
  use: {reads: [there], writes: [y], cuda: "y(0) = there(0, 0);"}
tasks:
  give:
    warps: 2
    schedule:
      - work_tile_loop: tiles
        body:
          - acquire: there
          - do: fill
          - {cluster_copy: here, to: there, along: cta, cta: (cluster.cta + 1) % CTAS}
          - commit: there
  take:
    warps: 2
    schedule:
      - work_tile_loop: tiles
        body: [{wait: there}, {do: use}, {release: there}]
"""
ONE = SPEC.replace("    warps: 2", "    warps: 1")  # an agent a task


def alarms(text: str) -> list[str]:
    found = translate(program_of(document(text)))
    assert found.unmodelled == ()
    verdict = prove(found.system)
    assert verdict.reason == "" or verdict.alarms
    return sorted({alarm.kind for alarm in verdict.alarms})


def system_of(text: str) -> System:
    return translate(program_of(document(text))).system


@pytest.mark.parametrize("ctas", [1, 2, 3, 4, 8])
def test_a_ring_round_the_cluster_is_proved(ctas: int) -> None:
    assert alarms(SPEC.replace("CTAS: 2", f"CTAS: {ctas}")) == []


def test_the_full_barrier_counts_the_own_task_and_what_lands() -> None:
    system = system_of(ONE.replace("CTAS: 2", "CTAS: 3"))
    counts = {barrier.name: barrier.count for barrier in system.barriers}
    # The reader of the CTA that this one sends to, and the own one.
    assert counts["there.full of CTA 0"] == 2 and counts["there.empty of CTA 0"] == 2
    loads = [one for agent in system.agents for one in instructions(agent.body) if isinstance(one, Load)]
    assert [[target.weight for target in load.targets] for load in loads] == [[0, 1]] * 3
    names = [[system.barriers[target.barrier].name for target in load.targets] for load in loads]
    assert names == [[f"there.full of CTA {(i + 1) % 3}"] * 2 for i in range(3)]


def test_what_has_been_sent_is_not_written_before_it_has_been_read() -> None:
    early = SPEC.replace(
        "          - acquire: there\n          - do: fill\n",
        "          - do: fill\n          - acquire: there\n",
    )
    assert alarms(early) == ["race"]
    # With two stages the copy of the round before is not settled by the stage that is acquired.
    assert alarms(SPEC.replace("STAGES: 1", "STAGES: 2")) == ["race"]


def test_a_stage_is_read_only_when_it_has_come() -> None:
    own = ONE.replace(
        "{wait: there}, {do: use}, {release: there}", "{wait: there}, {release: there}, {do: use}"
    )
    assert alarms(own) != []


def test_who_is_sent_nothing_waits_for_ever() -> None:
    bracket = """          - acquire: there
          - do: fill
          - {cluster_copy: here, to: there, along: cta, cta: (cluster.cta + 1) % CTAS}
          - commit: there
"""
    assert bracket in ONE
    inside = "".join(f"    {line}\n" for line in bracket.splitlines())
    one = ONE.replace(bracket, "          - when: cluster.cta > 0\n            then:\n" + inside)
    assert "deadlock" in " ".join(alarms(one))
    # The same where it is a tile that says so, whose coordinate along the axis differs between the CTAs.
    assert "deadlock" in " ".join(alarms(one.replace("cluster.cta > 0", "tile.cta > 0")))
    # Where all of them send or none does, nobody is left.
    takes = "[{wait: there}, {do: use}, {release: there}]"
    both = one.replace("cluster.cta > 0", "tile.row % 2 == 0").replace(
        f"body: {takes}", f"body: [{{when: tile.row % 2 == 0, then: {takes}}}]"
    )
    assert alarms(both) == []


def only_self(shared: Iterable[Shared], extents: Extents, rank: int) -> tuple[int, ...]:
    return (rank,)


@pytest.mark.parametrize("which", ["both", "fillers"])
def test_a_reader_that_does_not_tell_the_sender_is_refused(
    monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    monkeypatch.setattr(lines, "fillers", only_self)
    if which == "both":
        monkeypatch.setattr(lines, "reached", only_self)
    assert alarms(ONE) != []


def test_who_comes_back_to_a_stage_of_changing_senders_is_refused() -> None:
    text = ONE.replace("CTAS: 2", "CTAS: 4").replace(
        """          - acquire: there
          - do: fill
          - {cluster_copy: here, to: there, along: cta, cta: (cluster.cta + 1) % CTAS}
          - commit: there
""",
        """          - repeat: 3
            as: round
            body:
              - acquire: there
              - {cluster_copy: here, to: there, along: cta, cta: (cluster.cta + round + 1) % CTAS}
              - commit: there
""",
    )
    text = text.replace("policy: static", "policy: grid").replace(
        "  fill: {reads: [x], writes: [here], cuda", "  #"
    )
    text = text.replace(
        "body: [{wait: there}, {do: use}, {release: there}]",
        "body: [{repeat: 3, as: i, body: [{wait: there}, {do: use}, {release: there}]}]",
    )
    assert "arrive" in alarms(text)
    assert "arrive" not in alarms(text.replace("STAGES: 1", "STAGES: 3"))


@pytest.mark.parametrize("ctas", [2, 3])
def test_the_explorer_agrees(ctas: int) -> None:
    system = system_of(ONE.replace("CTAS: 2", f"CTAS: {ctas}"))
    for rounds in (1, 2) if ctas == 2 else (1,):
        oracle = Fixed(system, rounds, rounds, 1)
        outcome, kinds = look(system, oracle), kinds_of(check_run(system, oracle))
        assert not outcome.too_big and not disagree(outcome, kinds)
        assert kinds == frozenset()


@pytest.mark.parametrize("broken", ["unannounced", "untold", "too many"])
def test_the_explorer_agrees_on_what_is_wrong(monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    if broken == "untold":
        monkeypatch.setattr(lines, "fillers", only_self)
    system = system_of(ONE)
    if broken == "unannounced":
        # The own commit is left out, as if bytes alone made a stage full.
        system = replace(
            system,
            barriers=tuple(replace(one, count=1) if ".full" in one.name else one for one in system.barriers),
            agents=tuple(
                replace(one, body=_without_commits(one.body, system)) if one.label.startswith("give") else one
                for one in system.agents
            ),
        )
    if broken == "too many":
        system = replace(
            system,
            barriers=tuple(replace(one, count=3) if ".full" in one.name else one for one in system.barriers),
        )
    for rounds in (1, 2, 3):
        oracle = Fixed(system, rounds, rounds, 1)
        outcome, kinds = look(system, oracle), kinds_of(check_run(system, oracle))
        assert not outcome.too_big and not disagree(outcome, kinds)
    assert kinds


def _without_commits(body: Block, system: System) -> Block:
    found: list[Node] = []
    for node in body:
        if isinstance(node, Loop):
            found.append(replace(node, body=_without_commits(node.body, system)))
        elif not (
            isinstance(node, Arrive) and all(".full" in system.barriers[b].name for b in node.barriers)
        ):
            found.append(node)
    return tuple(found)
