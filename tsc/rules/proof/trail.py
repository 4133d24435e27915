"""The decisions that lead to a fault, as a clause of a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tsc.prove.asked.symbols import free
from tsc.prove.verdict import Alarm, Answer, Coordinates
from tsc.rules.proof.teller import Teller
from tsc.spec.wording import count

TILES = "tiles of the CTA"
MOST = 4
"""Conditions that are said; a run that needs more is better looked at as a trace."""


def given(teller: Teller, alarm: Alarm) -> str:
    """Say under which sizes and conditions it happens, `, for instance with n = 2`; nothing where always."""
    inputs = teller.translation.questions.witness(alarm.trail) or {}
    found = conditions(teller, alarm, frozenset(inputs))
    said = f", for instance with {_listed([f'`{name} = {value:,}`' for name, value in inputs.items()])}"
    return (said if inputs else "") + (f", where {found}" if found else "")


def conditions(teller: Teller, alarm: Alarm, known: frozenset[str] = frozenset()) -> str:
    """List the decisions in words, the first few of them, without those that `known` inputs decide."""
    open_ = [answer for answer in alarm.trail if not _decided(teller, answer, known)]
    found = list(dict.fromkeys([*_numbers(teller, open_), *_facts(teller, open_)]))
    left = len(found) - MOST
    if left > 0:
        found[MOST:] = [f"{left} more {'condition holds' if left == 1 else 'conditions hold'}"]
    return _listed(found)


def _decided(teller: Teller, answer: Answer, known: frozenset[str]) -> bool:
    system = teller.system
    asked = system.facts[answer.index] if answer.threshold is None else system.numbers[answer.index]
    tree = teller.translation.questions.tree_of(asked)
    return tree is not None and bool(known) and free(tree) <= known


def _listed(parts: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def _numbers(teller: Teller, answers: Sequence[Answer]) -> Iterator[str]:
    ranges: dict[tuple[int, Coordinates], tuple[int | None, int | None]] = {}
    for answer in answers:
        if answer.threshold is None:
            continue
        lo, hi = ranges.get((answer.index, answer.at), (None, None))
        if answer.value:
            lo = answer.threshold + 1 if lo is None else max(lo, answer.threshold + 1)
        else:
            hi = answer.threshold if hi is None else min(hi, answer.threshold)
        ranges[answer.index, answer.at] = lo, hi
    for (index, at), (lo, hi) in ranges.items():
        number = teller.system.numbers[index]
        least = number.lo if lo is None else lo
        if number.name == TILES:
            size = "" if least == hi else "at least " if hi is None else "at most "
            yield f"the CTA has {size}{count((least if hi is None else hi) or 0, 'tile')}"
            continue
        yield f"{_value(teller, index, least, hi)}{_at(at)}"


def _value(teller: Teller, number: int, lo: int | None, hi: int | None) -> str:
    """Say how large a number is; by the rounds of a loop where its own form is nothing that anybody wrote."""
    name = teller.system.numbers[number].name
    size = "" if lo == hi else "at least " if hi is None else "at most "
    value = (lo if hi is None else hi) or 0
    loop = teller.loop_of(number) if name.startswith("-") else None
    if loop is None:
        return f"{_named(name)} is {size}{value:,}"
    agent, one = loop
    rounds = max(0, -((one.start - one.bound.scale * value - one.bound.offset) // one.step))
    return f"{teller.name(agent)} goes round {size}{'once' if rounds == 1 else f'{rounds:,} times'}"


def _facts(teller: Teller, answers: Sequence[Answer]) -> Iterator[str]:
    found: dict[tuple[int, bool, Coordinates], list[Coordinates]] = {}
    for answer in answers:
        if answer.threshold is None:
            found.setdefault((answer.index, answer.value, answer.at[:-1]), []).append(answer.at)
    for (fact, value, _), places in found.items():
        text, same = teller.system.facts[fact].name, True
        if text.startswith("-") and not teller.several:  # a normal form, which nobody wrote
            text, same = teller.condition_of(fact)
        yield f"{_named(text)} {'holds' if value is same else 'does not hold'}{_at(*places)}"


def _named(text: str) -> str:
    return text if "`" in text else f"`{text}`"


def _at(*places: Coordinates) -> str:
    """Say where a decision was made; several places differ in the last coordinate."""
    at = places[0]
    if not at or (at[0] < 0 and len(at) == 1):
        return ""
    last = _listed([f"{place[-1]:,}" for place in places])
    plural = "s" if len(places) > 1 else ""
    if len(at) == 1:
        return f" in tile{plural} {last}"
    rounds = [f"round{plural} {last}", *(f"round {value:,}" for value in reversed(at[1:-1]))]
    return f" in {' of '.join([*rounds, *([f'tile {at[0]:,}'] if at[0] >= 0 else [])])}"
