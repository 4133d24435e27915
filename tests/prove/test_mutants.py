"""Each part of the proof, broken on purpose: a schedule written for it, whose verdict is then wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.prove import schedules as made
from tests.prove.broken import Change, broken
from tests.prove.compare import look
from tests.prove.explorer import WINDOWS
from tests.prove.oracles import Fixed, points
from tsc.prove import machine as m
from tsc.prove.proof import check_run, prove


@dataclass(frozen=True, slots=True)
class Mutant:
    """A part of the proof, how to break it, and a schedule for it.

    `kind`: what is wrong with the schedule, nothing if it is right. The broken proof refutes right ones and
    proves wrong ones. `run`: already one run of it says so.
    """

    changes: tuple[Change, ...]
    schedule: Callable[[], m.System]
    kind: str | None
    run: bool = False


MUTANTS: dict[str, Mutant] = {
    "lap at the wait": Mutant(
        (("barriers", "if done >= phase + 2:", "if False:"),), made.passes_a_lapped_wait, "lap", run=True
    ),
    "lap at the completion": Mutant(
        (
            (
                "barriers",
                "missed = waiters & ~((state.current[flat] | state.landing[flat]) >> orders)",
                "missed = 0",
            ),
        ),
        made.laps_a_waiter,
        "lap",
        run=True,
    ),
    "early": Mutant(
        (("barriers", "early = phase >= 1 and not", "early = False and not"),),
        made.waits_for_the_phase_after,
        "early",
        run=True,
    ),
    "window of an arrival": Mutant(
        (("barriers", "return self.knows(state, past, barrier, stage, phase - 1)", "return True"),),
        made.arrives_for_the_phase_after,
        "arrive",
        run=True,
    ),
    "weights": Mutant(
        (
            ("barriers", "fits = state.got[flat] + op.weight <= barrier.count", "fits = True"),
            ("barriers", "if state.got[flat] == self", "if state.got[flat] >= self"),
        ),
        made.arrives_with_too_much,
        "arrive",
        run=True,
    ),
    "issue before the last arrival": Mutant(
        (("barriers", "missed = issuers & ~(state.current[flat] >> issues)", "missed = 0"),),
        made.loads_behind_the_arrival,
        "arrive",
        run=True,
    ),
    "completions known by waiting only": Mutant(
        (("barriers", "    state.known[agent] |= bit\n            else", "    pass\n            else"),),
        made.knows_without_a_wait,
        None,
        run=True,
    ),
    "groups before an arrival": Mutant(
        (("barriers", "past |= group.facts | group.proof", "pass"),),
        made.commits_behind_a_group,
        None,
        run=True,
    ),
    "earlier arrivals of an engine": Mutant(
        (("barriers", "past |= queue.past\n", "pass\n"),), made.hears_of_an_earlier_commit, None, run=True
    ),
    "arrivals before a group": Mutant(
        (("barriers", "queue.proof |= past | bit", "pass"),), made.drains_a_commit, None, run=True
    ),
    "knowledge in covers": Mutant(
        (("relative", "return all(a | b == a for a, b in zip(one, other, strict=True))", "return True"),),
        made.hears_of_an_access_or_not,
        "race",
    ),
    "accesses": Mutant(
        (("code", "asks |= part_asks(part)", "asks |= 0"),), made.hears_of_an_access_or_not, "race"
    ),
    "carriers": Mutant(
        (
            ("relative", "relevant[agent] |= current[b]", "pass"),
            ("relative", "                        changed = True\n", ""),
            ("relative", "last[b] = found\n                current[b] |= found", "pass"),
        ),
        made.hears_of_an_access_or_not,
        "race",
    ),
    "arrivals": Mutant(
        (
            ("code", "cursors = layout.barriers[op.barrier].arrival_bits,", "cursors = 0,"),
            ("code", "asks |= layout.barriers[b].arrival_bits | layout", "asks |= layout"),
        ),
        made.hears_of_an_arrival_or_not,
        "arrive",
    ),
    "last waits": Mutant(
        (
            ("relative", "current[b] = barriers[b].order_bits", "pass"),
            ("code", "| layout.barriers[b].order_bits", ""),
        ),
        made.hears_of_a_wait_or_not,
        "lap",
    ),
    "conditions": Mutant(
        (("relative", "return [(fact, self.points(points), value) for", "return [0 for"),),
        made.asks_what_another_has_asked,
        "deadlock",
    ),
    "values of conditions": Mutant(
        (("relative", "[(fact, self.points(points), value) for", "[(fact, self.points(points)) for"),),
        made.asks_what_another_has_asked,
        "deadlock",
    ),
    "rounds": Mutant(
        (("relative", "return tuple((*point, count) for", "return tuple((*point, 0) for"),),
        made.fails_in_the_third_round,
        "deadlock",
    ),
    "how far behind": Mutant(
        (("relative", "value - line[1] * self.known(line[0], points[:i], stream)", "0"),),
        made.is_behind_by_some_rounds,
        "deadlock",
    ),
    "what was written": Mutant(
        (("relative", "self.state.written & self.code.fresh,", "0,"),),
        made.writes_what_is_read_or_not,
        "unwritten",
    ),
    "what was filled": Mutant(
        (("relative", "self.turned(self.code.filled & ~self.state.filled),", "0,"),),
        made.fills_anew_or_not,
        "stale",
    ),
    "fences": Mutant(
        (("run", "state.known[agent] |= (state.known[agent] & plain) << above", "pass"),),
        made.fences,
        None,
        run=True,
    ),
    "accesses that need a fence": Mutant(
        (("layout", "fenced = [who for", "fenced = [] and [who for"),),
        made.fences_or_not,
        "race",
    ),
    "groups that a drain leaves": Mutant(
        (("accesses", "proved = len(queue.groups) - op.keep", "proved = len(queue.groups)"),),
        made.drains_too_little,
        "race",
        run=True,
    ),
    "groups apart": Mutant(
        (("accesses", "self.code.agents[agent].kept[op.engine] + 1:", "1:"),),
        made.drains_all_but_two,
        None,
        run=True,
    ),
    "landings": Mutant(
        (("accesses", "            state.forget(landed)\n", ""),),
        made.goes_on_before_the_load_lands,
        "race",
        run=True,
    ),
    "takers": Mutant(
        (("parts", "for taker in system.takers:", "for taker in ():"),), made.takes_nothing, "leftover"
    ),
    "numbers that tiles share": Mutant(
        (("proof", "if not _agree(self.code, told) or", "if"),), made.goes_by_one_number_in_all_tiles, None
    ),
    "age of groups": Mutant(
        (
            (
                "relative",
                "return tuple(self.turned(group.facts & relevant) for group in groups[first:])",
                "return (0,) * len(groups[first:])",
            ),
        ),
        made.keeps_the_younger_group,
        "race",
    ),
    "what a group proves": Mutant(
        (
            ("relative", "self.turned(relevant[agent] & ~group.proof)", "0"),
            ("relative", "self.turned(relevant[agent] & ~queue.proof)", "0"),
        ),
        made.commits_before_the_group_or_behind,
        "arrive",
    ),
    "bytes under another name": Mutant(
        (("layout", "turnings[place[0]].turns = False", "turnings[place[0]].turns = True"),),
        made.writes_a_stage_under_another_name,
        "race",
    ),
    "the past before the first phase": Mutant(
        (("relative", "if state.done[flat] else 0)))", "if state.done[flat] else -1)))"),),
        made.learns_nothing_from_the_first_phase,
        "race",
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_part_shows(name: str) -> None:
    mutant = MUTANTS[name]
    system = mutant.schedule()
    proof = broken(*mutant.changes)
    if mutant.run:
        assert bool(proof.check_run(system, Fixed(system, 0))) == (mutant.kind is None)
    verdict = proof.prove(system)
    assert verdict.outcome == ("refuted" if mutant.kind is None else "proved")


@pytest.mark.parametrize("name", MUTANTS)
def test_the_whole_proof_is_right(name: str) -> None:
    mutant = MUTANTS[name]
    system = mutant.schedule()
    verdict = prove(system)
    kinds = {alarm.kind for alarm in verdict.alarms}
    assert mutant.kind in kinds if mutant.kind else not kinds
    assert verdict.outcome == ("refuted" if mutant.kind else "proved")


@pytest.mark.parametrize("name", MUTANTS)
def test_the_hardware_agrees(name: str) -> None:
    mutant = MUTANTS[name]
    system = mutant.schedule()
    seen = set()
    for oracle in points(system, 0, rounds=4):
        outcome = look(system, oracle)
        assert bool(outcome.kinds) == bool(check_run(system, oracle))
        seen |= outcome.kinds
    expected = {mutant.kind} if mutant.kind else set()
    # A bit that misleads may lead anywhere.
    assert (seen & expected if seen & WINDOWS else seen) == expected
