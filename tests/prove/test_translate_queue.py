"""Dynamic queues in the system: what a copy needs to be proved, and what shows when a part is missing."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.emit.kernels import NAMES, document, document_of, program_of
from tests.prove.translated import ROOT, agent, barrier, every, nodes
from tsc.program.model import Answers, Program
from tsc.prove.machine import Arrive, If, Load, Touch, Wait
from tsc.prove.proof import prove
from tsc.prove.translate import Translation, control
from tsc.prove.translate.system import translate

SHIPPED = [path for path in sorted((ROOT / "specs").rglob("*.tsc.yaml")) if "kind: queue" in path.read_text()]
CASES = [name for name in NAMES if "kind: queue" in document_of(name).text]
COPY = (ROOT / "specs/copy/tma.tsc.yaml").read_text(encoding="utf-8")


def copy(policy: str, launch: str = "", queue: str = "") -> Program:
    text = COPY.replace("policy: grid", f"policy: {policy}{queue}")
    return program_of(document(text.replace("launch: {", f"launch: {{{launch}")))


def outcome(found: Translation) -> str:
    assert found.unmodelled == ()
    return prove(found.system).outcome


def changed(program: Program, change: Callable[[Answers], Answers]) -> Program:
    """The program with other answers."""
    assert program.queue is not None and program.queue.answers is not None
    return replace(program, queue=replace(program.queue, answers=change(program.queue.answers)))


@pytest.mark.parametrize("policy", ["static", "atomic", "clc"])
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_what_ships_is_proved_under_each_policy(path: Path, policy: str) -> None:
    text = path.read_text(encoding="utf-8")
    for other in ("grid", "static", "atomic", "clc"):
        text = text.replace(f"policy: {other}", f"policy: {policy}")
    if "tile.split" in text:
        # With other rounds in each tile there are twice as many states a stage more.
        text = re.sub(r"  STAGES: \d+\n", "  STAGES: 3\n", text)
    # Stages that another CTA fills in each round can be filled once a launch, so that those specs have grids.
    wanted = "refuted" if "cluster_copy:" in text else "proved"
    assert outcome(translate(program_of(document(text)))) == wanted


@pytest.mark.parametrize("name", CASES)
def test_a_case_is_proved_with_a_counter_if_it_is_by_number(name: str) -> None:
    text = document_of(name).text
    outcomes = []
    for policy in ("static", "atomic"):
        own = re.sub(r"policy: \w+", f"policy: {policy}", text)
        own = own if policy == "static" else own.replace(", stride: step", "")
        outcomes.append(outcome(translate(program_of(document(own)))))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("policy", ["atomic", "clc"])
@pytest.mark.parametrize("size", [2, 4])
def test_clusters_that_take_their_tiles_together_are_proved(policy: str, size: int) -> None:
    found = translate(copy(policy, f"cluster: {{m: {size}}}, "))
    assert outcome(found) == "proved"
    (load,) = every(agent(found, "tiles.fetch"), Load)
    assert len(load.targets) == size
    assert barrier(found, "tiles", "empty").count == 3 * size


def test_one_cta_writes_its_answer_and_the_hardware_sends_it() -> None:
    assert not every(agent(translate(copy("atomic")), "tiles.fetch"), Load)
    assert len(every(agent(translate(copy("clc")), "tiles.fetch"), Load)) == 1


@pytest.mark.parametrize("launch", ["", "cluster: {m: 2}, "])
@pytest.mark.parametrize("less", [1, -1])
def test_every_arrival_counts(launch: str, less: int) -> None:
    found = copy("atomic", launch)
    wrong = changed(
        found, lambda it: replace(it, empty_arrivals=it.empty_arrivals - less * found.cluster_size)
    )
    assert outcome(translate(wrong)) == "refuted"


def test_one_answer_in_flight_is_enough() -> None:
    assert outcome(translate(copy("atomic", queue=", stages: 1"))) == "proved"


# ---- the launch before -------------------------------------------------------------------------------------


def test_the_counter_is_asked_behind_the_launch_before(monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_of(document_of("queue_cluster"))
    found = translate(program)
    assert outcome(found) == "proved"
    first, *_ = agent(found, "fetch").body
    assert isinstance(first, Wait) and not first.moves
    monkeypatch.setattr(control, "before_tiles", lambda *_: [])
    assert outcome(translate(program)) == "refuted"


def test_without_a_launch_before_there_is_nothing_to_wait_for() -> None:
    kinds = [type(node) for node in nodes(agent(translate(copy("atomic")), "tiles.fetch").body)]
    assert kinds[1:] == [Wait, Touch, Arrive, Wait, Touch, Arrive]


# ---- tiles that nobody sees --------------------------------------------------------------------------------


def test_who_leaves_a_tile_out_still_takes_its_answer() -> None:
    found = translate(program_of(document_of("queue_atomic")))
    assert outcome(found) == "proved"
    for name in ("load", "use"):
        (choice,) = (node for node in nodes(agent(found, name).body) if isinstance(node, If))
        assert [type(node) for node in choice.then] == [Wait, Touch, Arrive]
        assert choice.otherwise[-3:] == choice.then
    assert not [node for node in nodes(agent(found, "tiles.fetch").body) if isinstance(node, If)]


@pytest.mark.parametrize("policy", ["grid", "static", "atomic", "clc"])
def test_tiles_are_left_out_under_each_policy(policy: str) -> None:
    assert outcome(translate(copy(policy, queue=", skip_if: tile.m % 3 == 0"))) == "proved"


def test_an_answer_that_is_not_taken_for_a_tile_left_out_stops_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(control, "steps_of_queue", lambda *_: ())
    assert outcome(translate(program_of(document_of("queue_atomic")))) == "refuted"
