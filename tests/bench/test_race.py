"""Who runs when, and what counts."""

from __future__ import annotations

import pytest

from tests.bench.fake_clock import FakeClock, FakeContestant
from tsc.bench import race


def two() -> list[FakeContestant]:
    return [FakeContestant("ours", 1e-3), FakeContestant("theirs", 2e-3)]


def test_blocks_last_as_long_for_fast_and_slow_ones() -> None:
    contestants = two()
    clock = FakeClock(contestants)
    laps = race.settled(contestants, clock, turns=8, block=0.2, load=1.0)
    assert laps["ours"].samples == pytest.approx([1e-3] * 8)
    assert laps["theirs"].samples == pytest.approx([2e-3] * 8)
    counted = {name: (before, after) for name, before, after in clock.blocks}
    # Half a block is 0.1 s: five graphs of 20 ms, three of 40 ms.
    assert counted == {"ours": (5, 5), "theirs": (3, 3)}
    assert (laps["ours"].launches, laps["theirs"].launches) == (8 * 5 * 20, 8 * 3 * 20)


def test_the_order_is_drawn_anew_each_turn_and_everybody_has_each_turn() -> None:
    contestants = [FakeContestant(name, 1e-3) for name in "abc"]
    clock = FakeClock(contestants)
    race.settled(contestants, clock, turns=12, block=0.1, load=0.0)
    names = [name for name, before, _ in clock.blocks[3:] if before]
    turns = [tuple(names[at : at + 3]) for at in range(0, len(names), 3)]
    assert len(turns) == 12
    assert all(sorted(turn) == ["a", "b", "c"] for turn in turns)
    assert len(set(turns)) > 2


def test_the_load_comes_before_what_counts() -> None:
    contestants = two()
    clock = FakeClock(contestants)
    race.settled(contestants, clock, turns=1, block=0.1, load=2.0)
    warm = [block for block in clock.blocks[2:] if block[1] == 0]
    assert clock.blocks[2 : 2 + len(warm)] == warm
    assert sum(count * (0.02 if name == "ours" else 0.04) for name, _, count in warm) >= 2.0


def test_turns_are_added_until_enough_launches_are_counted() -> None:
    contestants = [FakeContestant("slow", 12.6e-3)]
    clock = FakeClock(contestants)
    laps = race.settled(contestants, clock, turns=8, least=300)
    assert laps["slow"].launches == 300
    assert len(laps["slow"].samples) == 15


def test_no_turn_begins_after_the_limit() -> None:
    contestants = [FakeContestant("slow", 0.1)]
    clock = FakeClock(contestants)
    laps = race.settled(contestants, clock, turns=50, load=0.0, limit=10.0)
    assert len(laps["slow"].samples) == 3


def test_a_burst_is_one_graph_after_a_rest() -> None:
    contestants = two()
    clock = FakeClock(contestants)
    laps = race.burst(contestants, clock, turns=3, rest=0.4)
    assert clock.rests == [0.4] * 6
    assert {block[1:] for block in clock.blocks} == {(0, 1)}
    assert laps["ours"].samples == pytest.approx([1e-3] * 3)
    assert laps["ours"].launches == 60


def test_the_watchdog_hears_whose_block_begins() -> None:
    contestants = two()
    heard: list[str] = []
    clock = FakeClock(contestants)
    race.settled(contestants, clock, turns=3, block=0.1, load=0.0, at=heard.append)
    race.burst(contestants, clock, turns=2, at=heard.append)
    assert heard == [name for name, _, _ in clock.blocks]


@pytest.mark.parametrize(
    ("size", "sets"), [(400 << 20, 2), (100 << 20, 2), (50 << 20, 4), (10 << 20, 20), (8 << 20, 24)]
)
def test_sets_pass_three_times_the_l2(size: int, sets: int) -> None:
    assert race.sets_of(size, 60 << 20) == sets
    assert sets * size > 3 * (60 << 20)


def test_a_graph_comes_by_every_set() -> None:
    assert [race.launches_of(sets) for sets in (2, 20, 21, 50)] == [20, 20, 40, 60]
