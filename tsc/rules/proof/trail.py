"""The decisions that lead to a fault, as a clause of a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from tsc.prove.verdict import Alarm, Coordinates
from tsc.rules.proof.teller import Teller
from tsc.spec.wording import count

TILES = "tiles of the CTA"
MOST = 4
"""Conditions that are said; a run that needs more is better looked at as a trace."""


def given(teller: Teller, alarm: Alarm) -> str:
    """Say under which sizes and conditions it happens, as `, with n_tiles = 2`; nothing where always."""
    inputs = teller.translation.questions.witness(alarm.trail)
    if inputs:
        return f", for instance with {_listed([f'`{name} = {value:,}`' for name, value in inputs.items()])}"
    found = conditions(teller, alarm)
    return f", where {found}" if found else ""


def conditions(teller: Teller, alarm: Alarm) -> str:
    """List the decisions in words, the first few of them."""
    found = list(dict.fromkeys([*_numbers(teller, alarm), *_facts(teller, alarm)]))
    left = len(found) - MOST
    if left > 0:
        found[MOST:] = [f"{left} more {'condition holds' if left == 1 else 'conditions hold'}"]
    return _listed(found)


def _listed(parts: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def _numbers(teller: Teller, alarm: Alarm) -> Iterator[str]:
    ranges: dict[tuple[int, Coordinates], tuple[int | None, int | None]] = {}
    for answer in alarm.trail:
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
        name = _named(number.name)
        if number.name == TILES:
            size = "" if least == hi else "at least " if hi is None else "at most "
            yield f"the CTA has {size}{count((least if hi is None else hi) or 0, 'tile')}"
            continue
        if least is not None and least == hi:
            yield f"{name} is {hi:,}{_at(at)}"
        elif hi is None:
            yield f"{name} is at least {least:,}{_at(at)}"
        else:
            yield f"{name} is at most {hi:,}{_at(at)}"


def _facts(teller: Teller, alarm: Alarm) -> Iterator[str]:
    found: dict[tuple[int, bool, Coordinates], list[Coordinates]] = {}
    for answer in alarm.trail:
        if answer.threshold is None:
            found.setdefault((answer.index, answer.value, answer.at[:-1]), []).append(answer.at)
    for (fact, value, _), places in found.items():
        holds = "holds" if value else "does not hold"
        yield f"{_named(teller.system.facts[fact].name)} {holds}{_at(*places)}"


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
