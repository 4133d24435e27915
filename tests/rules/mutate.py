"""Specs that somebody has damaged: one to four changes, of the kind that editing makes."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

from tsc.spec.schedule import NODES

Place = tuple[Any, Any]  # a mapping or a list, and a key of it

NUMBERS = (0, -1, 1, 3, 33, 1024, 10**9, 2**31, 2**63 - 1, -(2**63))
EXPRESSIONS = (
    "m", "n", "loop", "iter", "trips - 1", "tile.row", "tile.seq", "thread", "replica", "part", "sms",
    "block.x", "1 // 0", "n % 0", "nothing", "x", "ring", "x[0]", "find(x, 1)", "min(n, 4)", "not n", "n > 2",
    "9223372036854775807 + n", "-9223372036854775808", "n * n * n * n", "cluster.x", "cdiv(n, 0 - 1)", "true",
)  # fmt: skip
KINDS = ("smem", "tmem", "registers", "signal", "merge", "fork", "queue", "turn", "barrier")
WORDS = ("ring", "x", "y", "m", "ringg", "load", "v", "T", "seq", "xs[0]", "xs[9]", "ab.a", "ab.b.T", "tiles")
GUARDS = ("first_iter", "last_iter", "skippable")


def mutate(data: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Return a damaged copy of a document."""
    damaged = copy.deepcopy(data)
    for _ in range(rng.randint(1, 4)):
        places = list(_places(damaged))
        if places:
            rng.choice(_CHANGES)(rng, rng.choice(places), places)
    return damaged


def _places(value: Any) -> Iterator[Place]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        yield value, key
        yield from _places(inner)


def _drop(rng: random.Random, place: Place, places: list[Place]) -> None:
    owner, key = place
    del owner[key]


def _duplicate(rng: random.Random, place: Place, places: list[Place]) -> None:
    owner, key = place
    if isinstance(owner, list):
        owner.insert(rng.randint(0, len(owner)), copy.deepcopy(owner[int(key)]))
    else:
        owner[rng.choice(WORDS)] = copy.deepcopy(owner[str(key)])


def _swap(rng: random.Random, place: Place, places: list[Place]) -> None:
    (owner, key), (other, second) = place, rng.choice(places)
    one, two = copy.deepcopy(owner[key]), copy.deepcopy(other[second])
    owner[key], other[second] = two, one


def _swap_neighbours(rng: random.Random, place: Place, places: list[Place]) -> None:
    owner, _ = place
    if isinstance(owner, list) and len(owner) > 1:
        i = rng.randrange(len(owner) - 1)
        owner[i], owner[i + 1] = owner[i + 1], owner[i]


def _move(rng: random.Random, place: Place, places: list[Place]) -> None:
    lists = [owner for owner, _ in places if isinstance(owner, list)]
    owner, key = place
    if isinstance(owner, list) and lists:
        step = owner.pop(int(key))
        target = rng.choice(lists)
        target.insert(rng.randint(0, len(target)), copy.deepcopy(step))


def _number(rng: random.Random, place: Place, places: list[Place]) -> None:
    numbers = [(o, k) for o, k in places if isinstance(o[k], int)]
    owner, key = rng.choice(numbers or [place])
    owner[key] = rng.choice(NUMBERS)


def _expression(rng: random.Random, place: Place, places: list[Place]) -> None:
    scalars = [(o, k) for o, k in places if isinstance(o[k], (int, str))]
    owner, key = rng.choice(scalars or [place])
    owner[key] = rng.choice(EXPRESSIONS)


def _word(rng: random.Random, place: Place, places: list[Place]) -> None:
    words = [o[k] for o, k in places if isinstance(o[k], str)]
    owner, key = place
    owner[key] = rng.choice([*words, *WORDS])


def _kind(rng: random.Random, place: Place, places: list[Place]) -> None:
    owners = [owner for owner, key in places if key == "kind" and isinstance(owner, dict)]
    if owners:
        rng.choice(owners)["kind"] = rng.choice(KINDS)


def _verb(rng: random.Random, place: Place, places: list[Place]) -> None:
    steps = [(owner, key) for owner, key in places if isinstance(owner, dict) and key in NODES]
    if steps:
        owner, key = rng.choice(steps)
        owner[rng.choice(list(NODES))] = owner.pop(str(key))


def _wrap(rng: random.Random, place: Place, places: list[Place]) -> None:
    owner, key = place
    if isinstance(owner, list):
        step = owner[int(key)]
        owner[int(key)] = rng.choice(
            (
                {rng.choice(GUARDS): [step]},
                {"when": rng.choice(EXPRESSIONS), "then": [step]},
                {"when": rng.choice(EXPRESSIONS), "then": [step], "else": [step, step]},
                {"when_false": rng.choice(EXPRESSIONS), "key": "k", "body": [step]},
                {"every": rng.choice((1, 2, 3, 63, 65, 0)), "start": rng.choice((0, 1, 70)), "body": [step]},
                {"for": rng.choice(EXPRESSIONS), "as": "i", "body": [step]},
                {"for": rng.choice(NUMBERS), "step": rng.choice(NUMBERS), "as": "j", "body": [step]},
                {"repeat": rng.choice((0, 1, 7, 5000)), "as": "c", "body": [step]},
                {"if": rng.choice(EXPRESSIONS), "then": [step]},
                {
                    "domain_loop": rng.choice(EXPRESSIONS),
                    "split_at": [rng.choice(NUMBERS), "n"],
                    "body": [step],
                },
            )
        )


_CHANGES = (
    _drop, _duplicate, _swap, _swap_neighbours, _swap_neighbours, _move, _number, _number, _expression,
    _expression, _word, _kind, _verb, _wrap, _wrap,
)  # fmt: skip
