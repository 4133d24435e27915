"""Answers at random: at every round what the condition is, and together true or not."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.prove.rounds import Maker, Visitor, at_random, compare, launches
from tsc.expr import EvalError, Expr, evaluate, parse
from tsc.program.model import Program
from tsc.prove.asked import Questions
from tsc.prove.asked.model import in_rounds
from tsc.prove.asked.periodic import rounds_of
from tsc.prove.asked.symbols import free
from tsc.prove.verdict import Answer


@given(st.integers(0, 2**32))
@settings(max_examples=25)
def test_every_answer_is_what_the_condition_is(seed: int) -> None:
    found, sizes = at_random(seed)
    for size in sizes:
        compare(found, size)


def trail_of(found: Program, questions: Questions, sizes: dict[str, Any]) -> list[Answer]:
    """Return answers that are all true at once: those of one launch."""
    trail: list[Answer] = []
    launch = next(launches(found, sizes))
    for task in found.tasks:
        visitor = Visitor(questions, launch, {})
        visitor.trail = trail
        with suppress(EvalError):
            visitor.task(task)
    return list(dict.fromkeys(trail))


def true_under(questions: Questions, answer: Answer, sizes: dict[str, Any]) -> bool | None:
    """Whether an answer about sizes alone is true; nothing for another one."""
    question = questions.facts[answer.index] if answer.threshold is None else questions.numbers[answer.index]
    tree = questions.tree_of(question)
    known = {
        **sizes,
        **{
            name: sizes[dim] // questions.program.dims[dim].multiple_of
            for name, dim in questions.symbols.shares.items()
            if dim in sizes
        },
    }
    if tree is None or not free(tree) <= known.keys():
        return None
    value = int(evaluate(Expr("", tree, ()), known))
    return (bool(value) if answer.threshold is None else value > answer.threshold) == answer.value


@given(st.integers(0, 2**32))
@settings(max_examples=15)
def test_answers_of_one_launch_agree(seed: int) -> None:
    found, sizes = at_random(seed)
    if found.queue is not None and sizes[0]["n"] < 1:
        return
    questions = Questions(found)
    trail = trail_of(found, questions, sizes[0])[:12]
    assert questions.consistent(trail) is not False
    small = questions.witness(trail)
    if small is not None:
        known = [true_under(questions, answer, small) for answer in trail]
        assert False not in known
    random = Random(seed)
    for _ in range(3):
        bent = [Answer(a.index, a.at, a.threshold, a.value ^ (random.random() < 0.3)) for a in trail]
        bent = [a for a in bent if true_under(questions, a, sizes[0]) is not None]
        if questions.consistent(bent) is not False:
            continue
        step = max(1, found.dims["n"].multiple_of)
        # A launch has no extent of 0.
        for n, m, a, flag in product(range(step, 6 * step, step), range(1, 4), range(-2, 6), (False, True)):
            tried = {"n": n, "m": m, "a": a, "flag": flag}
            assert not all(true_under(questions, one, tried) for one in bent)


# ---- conditions on the round alone -------------------------------------------------------------------------


@given(st.integers(0, 2**32))
@settings(max_examples=300)
def test_rounds_repeat_as_told(seed: int) -> None:
    maker = Maker(Random(seed), False)
    maker.base = ("i", "i", "3", "1", "5")
    condition = parse(maker.condition(maker.base).replace("flag", "(i > 2)")).tree
    found = rounds_of(condition, "i")
    if found is None:
        return
    head, cycle = found
    for i in range(300):
        told = head[i] if i < len(head) else cycle[(i - len(head)) % len(cycle)]
        assert told == bool(evaluate(Expr("", condition, ()), {"i": i})), i


@pytest.mark.parametrize(
    ("condition", "rounds"),
    [
        ("i == 0", ([True], [False])),
        ("i > 1", ([False, False], [True])),
        ("i % 3 == 1", ([], [False, True, False])),
        ("i // 2 % 2 == 0", ([], [True, True, False, False])),
        ("i * i > 4", None),
        ("i > 1000", None),
        ("i % 97 == 0", None),
        ("i < n", None),
    ],
)
def test_rounds_of_a_condition(condition: str, rounds: tuple[list[bool], list[bool]] | None) -> None:
    found = rounds_of(parse(condition).tree, "i")
    if found is None or rounds is None:
        assert found is rounds
        return
    assert in_rounds(*found, 0) == in_rounds(*rounds, 0)
