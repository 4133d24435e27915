"""The decisions that lead to a fault, as a clause of a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from tsc.prove.verdict import Alarm, Coordinates
from tsc.rules.proof.teller import Teller

MOST = 4
"""Conditions that are said; a run that needs more is better looked at as a trace."""


def given(teller: Teller, alarm: Alarm) -> str:
    """Say under which sizes and conditions it happens, as `, with n_tiles = 2`; nothing where always."""
    witness = getattr(teller.translation.questions, "witness", None)  # TEMP
    inputs = witness(alarm.trail) if witness else None
    if inputs:
        return f", for instance with {_listed([f'`{name} = {value:,}`' for name, value in inputs.items()])}"
    found = conditions(teller, alarm)
    return f", where {found}" if found else ""


def conditions(teller: Teller, alarm: Alarm) -> str:
    """List the decisions in words, the first few of them."""
    found = list(dict.fromkeys([*_numbers(teller, alarm), *_facts(teller, alarm)]))
    if len(found) > MOST:
        found[MOST:] = [f"{len(found) - MOST} more conditions hold"]
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
        name = f"`{number.name}`"
        if least is not None and least == hi:
            yield f"{name} is {hi:,}{_at(at)}"
        elif hi is None:
            yield f"{name} is at least {least:,}{_at(at)}"
        else:
            yield f"{name} is at most {hi:,}{_at(at)}"


def _facts(teller: Teller, alarm: Alarm) -> Iterator[str]:
    for answer in alarm.trail:
        if answer.threshold is None:
            holds = "holds" if answer.value else "does not hold"
            yield f"`{teller.system.facts[answer.index].name}` {holds}{_at(answer.at)}"


def _at(at: Coordinates) -> str:
    if not at or (at[0] < 0 and len(at) == 1):
        return ""
    rounds = "".join(f"round {value:,} of " for value in reversed(at[1:]))
    return f" in {rounds}tile {at[0]:,}" if at[0] >= 0 else f" in {rounds}".removesuffix(" of ")
