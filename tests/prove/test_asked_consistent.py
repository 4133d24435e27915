"""Answers that can and that cannot all be true, and sizes under which they are."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from tests.prove.asking import asked, loop, queued, task, when
from tsc.prove.machine import All, Ask, Test
from tsc.prove.verdict import Answer


def test_witness_is_small() -> None:
    zero = "launch: {grid: [1]}\ndims: {k: {min: 0}}"
    found = asked(task("a", when("k > 100 and n == 7"), loop("cdiv(k, 64)")), zero)
    numbers = [number.name for number in found.questions.numbers]
    assert numbers == ["cdiv(k, 64)"]
    assert found.questions.witness([Answer(0, (), 1, True), Answer(0, (), 2, False)]) == {"k": 65}
    assert found.questions.witness([Answer(0, (), 0, False)]) == {"k": 0}
    assert found.questions.consistent([Answer(0, (), 1, True), Answer(0, (), 2, False)]) is True
    assert found.questions.consistent([Answer(0, (), 1, True), Answer(0, (), 1, False)]) is False


def holds(test: Test, facts: Mapping[int, bool]) -> bool:
    match test:
        case Ask():
            return facts[test.fact] == test.value
        case All():
            return all(holds(one, facts) for one in test.tests) == test.value
    raise AssertionError(test)


def test_comparisons_of_one_number_fit_together() -> None:
    conditions = ("mode == 0", "mode == 1", "mode >= 1", "mode == 0 or mode == 1", "n > m", "m > n + 1")
    found = asked(task("a", *map(when, conditions)))
    seen = set()
    for values in product((False, True), repeat=len(found.questions.facts)):
        zero, one, more, any_, left, right = (holds(test, dict(enumerate(values))) for test in found.tests)
        assert not (zero and one) and not (zero and more) and (more or not one) and any_ == (zero or one)
        assert not (left and right)
        seen.add((zero, one, more, left, right))
    # Below 0, 0, 1 and above; and less, in between and more.
    assert len(seen) == 4 * 3


def test_conditions_that_exclude_each_other() -> None:
    found = asked(task("a", *map(when, ("mode > 5", "mode + m < 3", "n > 2"))))
    large, small, other = (
        Answer(test.fact, (-1,), None, test.value) for test in found.tests if isinstance(test, Ask)
    )
    assert found.questions.consistent([large, other]) is True
    assert found.questions.consistent([large, small]) is False


def test_values_of_loops_are_known_where_an_answer_was_given() -> None:
    found = asked(task("a", loop("n", when("loop == 500"), when("t[loop] > 3"))))
    late = next(test for test in found.tests if isinstance(test, Ask))
    assert found.questions.consistent([Answer(late.fact, (-1, 3), None, late.value)]) is False
    assert found.questions.consistent([Answer(late.fact, (-1, 500), None, late.value)]) is not False


def test_tiles_have_values_of_their_own() -> None:
    schedule = f"{{work_tile_loop: tiles, body: [{when('tile.r > 5')}, {when('tile.r + tile.c < 4')}]}}"
    found = queued(task("a", schedule))
    large, small = (Answer(t.fact, (0,), None, t.value) for t in found.tests if isinstance(t, Ask))
    other = Answer(large.index, (1,), None, not large.value)
    assert found.questions.consistent([large, other]) is not False
    assert found.questions.consistent([large, small]) is False
    assert found.questions.consistent([other, small]) is not False
