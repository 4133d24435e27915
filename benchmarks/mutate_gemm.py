"""Makes faulty schedules out of the shipped GEMMs, beside what `mutate` does to any schedule.

The mutants have small tiles, so that they are built fast and turn their rings often; the schedule is the
shipped one. As everywhere, what a spec computes is not changed alone: no product, no work and no store is
left out, done twice or guarded, and `accumulate` only becomes what reads accumulators that nobody wrote.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from itertools import product
from typing import Any

import yaml

from benchmarks import mutate
from benchmarks.mutate import (
    BODIES,
    BOUNDS,
    Mutant,
    Mutation,
    Path,
    alter,
    at,
    put,
    remove,
    shown,
    steps,
    verb,
    within,
    written,
)
from benchmarks.mutate_gemm_cluster import sends
from benchmarks.mutate_gemm_hunt import hunted, looked

TIMEOUT_MS = 1500
"""How long a wait may take in a mutant before it traps: a hang that costs no more than a new process."""
SMALL: dict[str, dict[str, int]] = {
    "gemm/hopper_bf16": {"BN": 96, "EN": 32},
    "gemm/hopper_bf16_pingpong": {"BN": 96, "STAGES": 5},
    "gemm/hopper_splitk": {"BN": 96, "EN": 32, "STAGES": 4, "SPLITS": 4},
    "gemm/hopper_splitk_cluster": {"BN": 96, "SN": 24, "STAGES": 2},
}
"""Constants of the mutants: 128 x 96 tiles with three stores (six of the ping-pong) through two stages."""

LARGEST = 1 << 20
"""Bounds m and n, so that no change makes coordinates of the TMA unit too long."""

COMPUTES = ("wgmma", "do", "zero", "stmatrix", "tma_store", "count_in")
"""What is neither done twice nor guarded; all but the last two of these are not left out either."""
LEFT_OUT = tuple(
    f"{words} `{word}:"
    for words, word in (
        *product(("put",), COMPUTES),
        *product(("drop",), ("wgmma", "do", "zero", "tma_store")),
        *product(("do",), ("wgmma", "do", "tma_store", "count_in")),
    )
)
COMPUTED = ("{fill: nan}", "becomes `last and tile.split > 0`", "`do: finish`", "`zero: sum`")
"""What is drawn like the others, so that names stay, and left out then: NaN beyond k, tiles not stored, sums
cleared late or taken early."""
SHIFTED = ("acquire", "commit", "wait", "release", "try_wait", "wgmma", "wgmma_wait", "take", "pass", "skip",
           "stmatrix", "tma_store", "tma_load", "count_in", "do", "cluster_copy")  # fmt: skip
RING = "ab"


def base(spec: str, text: str) -> Any:
    """Return the document of a shipped spec with small tiles and a watchdog."""
    data = yaml.safe_load(text)
    data["constants"].update(SMALL[spec])
    data["debug"] = {"wait_timeout_ms": TIMEOUT_MS}
    data["dims"].update({dim: {"max": LARGEST} for dim in ("m", "n")})
    for key in ("verify", "tune"):
        data.pop(key, None)
    return data


def without(block: list[Any], i: int, key: str) -> None:
    """Take a key of the step at place i away."""
    del block[i][key]


def become(block: list[Any], i: int, step: Any) -> None:
    """Put another step at place i."""
    block[i] = step


def shifts(data: Any) -> Iterator[Mutation]:
    """Move a step two or three places on in its block, or to its beginning or end."""

    def move(block: list[Any], i: int, to: int) -> None:
        block.insert(to, block.pop(i))

    for path, i, step, _ in steps(data):
        size = len(at(data, path))
        if verb(step) not in SHIFTED or "add_up" in shown(step):
            continue
        for to in sorted({0, i - 3, i - 2, i + 2, i + 3, size - 1} & set(range(size)) - {i - 1, i, i + 1}):
            words = f"move `{shown(step)}` from place {i} to {to} of its block in `{path[1]}`"
            yield Mutation("shift", words, within(move, path, i, to))


def hoists(data: Any) -> Iterator[Mutation]:
    """Move the first or last step out of a block that is no loop of tiles or of k, or a neighbour into it."""

    def out(around: list[Any], i: int, key: str, which: int) -> None:
        step = around[i][key].pop(which)
        around.insert(i if which == 0 else i + 1, step)

    def into(around: list[Any], i: int, key: str, other: int) -> None:
        step = around.pop(other)
        inner = around[i if other > i else i - 1][key]
        inner.insert(len(inner) if other > i else 0, step)

    movable = set(SHIFTED) - {"stmatrix", "tma_store", "do", "wgmma", "count_in"}
    for path, i, step, _ in steps(data):
        if not isinstance(step, dict) or verb(step) not in ("repeat", "when", "if"):
            continue
        around = at(data, path)
        for key in (key for key in BODIES if isinstance(step.get(key), list)):
            for which, side in ((0, "before"), (-1, "behind")):
                if len(step[key]) > 1 and verb(step[key][which]) in movable:
                    words = f"move `{shown(step[key][which])}` {side} `{shown(step)}` in `{path[1]}`"
                    yield Mutation("move", words, within(out, path, i, key, which))
            for other in (i - 1, i + 1):
                if 0 <= other < len(around) and verb(around[other]) in movable:
                    words = f"move `{shown(around[other])}` into {key} of `{shown(step)}` in `{path[1]}`"
                    yield Mutation("move", words, within(into, path, i, key, other))


def unguarded(data: Any) -> Iterator[Mutation]:
    """Leave out a whole branch that skips stages or clears accumulators."""
    for path, i, step, _ in steps(data):
        if not isinstance(step, dict) or verb(step) != "when":
            continue
        if "else" in step:
            yield Mutation(
                "drop",
                f"drop else of `{shown(step)}` in `{path[1]}`",
                within(without, path, i, "else"),
            )
        if len(step["then"]) == 1:
            words = f"drop `{shown(step)}` and what it guards in `{path[1]}`"
            yield Mutation("drop", words, within(remove, path, i))


def products(data: Any) -> Iterator[Mutation]:
    """Change which products may run, what they add to, and how many stages they keep."""
    for path, i, step, _ in steps(data):
        if not isinstance(step, dict):
            continue
        new: list[dict[str, Any]] = []
        match verb(step):
            case "wgmma":
                new = [{"accumulate": value} for value in (True, "loop > 0", "iter >= 0", "tile.m > 0")]
                new += [{"a": step["b"], "b": step["a"]}] if "SAME" in data["constants"] else []
            case "wgmma_wait":
                now = str(data["constants"].get(step["wgmma_wait"], step["wgmma_wait"]))
                new = [{"wgmma_wait": value} for value in (0, 1, 2, 3) if str(value) != now]
                if "iter" not in now and path[-2] != "then":
                    new += [{"wgmma_wait": value} for value in (7,)]
            case "release":
                new = [{"keep": value} for value in (0, 1, 2, 3) if value != step.get("keep", 0)]
            case "commit":
                new = [{"keep": value} for value in (1, 2)]
            case "skip":
                count = step["count"]
                new = [{"count": v} for v in (f"{count} + 1", f"{count} - 1", 0, 1, f"max({count}, 1)")]
                new += [{"count": v} for v in (f"min({count}, 1)", f"{count} * 2", "STAGES")]
            case "repeat":
                new = [{"repeat": f"{step['repeat']} + 1"}]
            case "take" | "pass":
                word = verb(step)
                other = {"math_turn": "store_turn", "store_turn": "math_turn"}[step[word]]
                new = [{word: other}]
            case "try_wait":
                yield Mutation(
                    "count",
                    f"`try_wait: {step['try_wait']}` becomes a wait in `{path[1]}`",
                    within(become, path, i, {"wait": step["try_wait"]}),
                )
        for update in new:
            words = f"`{shown(step)}` with {update} in `{path[1]}`".replace("'", "")
            yield Mutation("count", words, within(alter, path, i, update))


CONDITIONS = {
    "tile.seq % 2 == replica": (
        "tile.seq % 2 != replica", "tile.seq % 2 == 0", "tile.m % 2 == replica", "tile.seq % 3 == replica",
        "tile.seq % 2 <= replica", "tile.seq % 4 // 2 == replica", "(tile.seq + 1) % 2 == replica",
        "tile.n % 2 == replica", "tile.seq % 2 == replica or tile.seq == 0", "replica == 0",
        "tile.seq == replica",
    ),
    "k_tiles == 0": ("k_tiles < 0", "k_tiles == 0 and tile.m > 0", "k_tiles == 1 - 1", "k < 0", "k == 0"),
    "k_begin == k_end": (
        "k_tiles == 0", "k_begin > k_end", "k_end - k_begin == 0", "k_end == 0", "k_begin >= k_end",
    ),
    "last": ("last and tile.split > 0", "not last", "last or tile.split == SPLITS - 1"),
}  # fmt: skip
"""Other conditions for those of the shipped specs: some mean the same, none computes less on purpose."""


def conditions(data: Any) -> Iterator[Mutation]:
    """Change a condition."""
    for path, i, step, _ in steps(data):
        if isinstance(step, dict) and verb(step) == "when":
            for new in CONDITIONS.get(step["when"], ()):
                words = f"`when: {step['when']}` becomes `{new}` in `{path[1]}`"
                yield Mutation("condition", words, within(alter, path, i, {"when": new}))


def loads(data: Any) -> Iterator[Mutation]:
    """Change who receives a load, or into which of the buffers it goes."""
    for path, i, step, _ in steps(data):
        if not isinstance(step, dict) or verb(step) != "tma_load":
            continue
        words = f"`tma_load: {step['tma_load']}`"
        if "multicast" in step:
            yield Mutation(
                "load",
                f"{words} without multicast",
                within(without, path, i, "multicast"),
            )
        changes: list[dict[str, Any]] = [
            {"multicast": axis} for axis in ("m", "n") if step.get("multicast") != axis
        ]
        changes += [{"share": "leader"}, {"l2": 0}, {"cache": "evict_first"}, {"fill": "nan"}]
        for update in changes:
            yield Mutation(
                "load",
                f"{words} with {update}".replace("'", ""),
                within(alter, path, i, update),
            )


def extras(data: Any) -> Iterator[Mutation]:
    """Put in steps that an author might think of."""
    for path, i, step, _ in steps(data):
        task, extra = path[1], []
        match verb(step):
            case "wgmma":
                extra = [
                    {"wgmma_wait": 0},
                    {"release": RING},
                    {"release": RING, "keep": 1},
                    {"release": RING, "keep": 2},
                ]
            case "wgmma_wait":
                extra = [{"release": RING, "keep": 1}, {"zero": "acc"}, "task_sync"]
            case "domain_loop" if task == "math":
                extra = [{"zero": "acc"}, {"wgmma_wait": 0}, {"try_wait": RING}, {"release": RING}]
            case "domain_loop":
                extra = [{"try_acquire": RING}, {"acquire": RING}, {"commit": RING}]
            case "tma_store":
                extra = [{"store_wait": 0}, {"store_wait": 1}, "task_sync"]
            case "stmatrix":
                extra = [{"store_wait": 0}, {"acquire": "out"}, {"wgmma_wait": 0}]
            case "acquire" if step["acquire"] == "out":
                extra = [{"store_wait": 1}, {"try_acquire": "out"}]
            case "take" | "pass":
                extra = [{"wgmma_wait": 0}, "task_sync", {"wgmma_wait": 1}]
        for new in extra:
            words = f"put `{shown(new)}` before `{shown(step)}` in `{task}`"
            if isinstance(new, dict) and "keep" in new:
                words += f" keep {new['keep']}"
            yield Mutation("insert", words, within(put, path, i, new))


def _clears(data: Any, mutation: Mutation) -> bool:
    """Return whether a mutation leaves a `zero` without the condition that it had."""

    def guarded(document: Any) -> int:
        return sum(
            verb(step) == "when" and verb(step["then"][0]) == "zero" for _, _, step, _ in steps(document)
        )

    mutated = copy.deepcopy(data)
    mutation.change(mutated)
    return guarded(mutated) < guarded(data)


SORTS = (*mutate.SORTS, shifts, hoists, unguarded, products, conditions, loads, extras, sends)


def singles(data: Any, values: dict[Path, tuple[Any, ...]]) -> dict[str, list[Mutation]]:
    """Return all single changes by their sort."""
    found: dict[str, list[Mutation]] = {}
    for mutation in (*(m for sort in SORTS for m in sort(data)), *mutate.settings(data, values)):
        words = mutation.words
        computes = words.startswith(LEFT_OUT) or (mutation.sort == "swap" and "add_up" in words)
        # Without its condition the clearing of accumulators wipes a result out.
        computes |= words.startswith("take `when` away") and _clears(data, mutation)
        if not computes:
            found.setdefault(mutation.sort, []).append(mutation)
    return found


def mutants(
    spec: str, text: str, values: dict[Path, tuple[Any, ...]], most: int, pairs: int, seed: int = 0
) -> list[Mutant]:
    """Return at most `most` of one change, spread over the sorts, all that are sought, and `pairs` of two."""
    data, draw = base(spec, text), random.Random(f"{spec} {seed}")
    sorts = singles(data, values)
    for group in sorts.values():
        draw.shuffle(group)
    every = [mutation for group in sorts.values() for mutation in group]
    made: dict[str, Mutant] = {}
    original = written(data)

    def make(mutations: tuple[Mutation, ...], document: Any) -> bool:
        mutated = written(document)
        if mutated == original or mutated in made:
            return False
        sort = mutations[0].sort if len(mutations) == 1 else "pair"
        name = f"{spec.rpartition('/')[2]}-{len(made):03d}"
        made[mutated] = Mutant(name, spec, sort, "; then ".join(m.words for m in mutations), mutated)
        return True

    while len(made) < most and any(sorts.values()):
        for group in sorts.values():
            while group and len(made) < most:
                mutation, document = group.pop(), copy.deepcopy(data)
                mutation.change(document)
                if make((mutation,), document):
                    break
    for mutation in hunted(data):
        document = copy.deepcopy(data)
        mutation.change(document)
        make((mutation,), document)
    tries, left = 0, pairs
    while left and tries < 20 * pairs:
        tries += 1
        first = draw.choice(every)
        document = copy.deepcopy(data)
        first.change(document)
        second = draw.choice([m for group in singles(document, values).values() for m in group])
        if {first.sort, second.sort} <= BOUNDS or (first.task and first.task == second.task):
            continue
        second.change(document)
        left -= make((first, second), document)
    for mutation in looked(data):
        document = copy.deepcopy(data)
        mutation.change(document)
        make((mutation,), document)
    return [mutant for mutant in made.values() if not any(words in mutant.words for words in COMPUTED)]


NAP = """\
unsigned r;
asm volatile("mov.u32 %0, %%clock;" : "=r"(r));
r = (r + 977u * task.warp) * 2654435761u >> 16;
if ((r & 7u) == 0u) __nanosleep(r >> 3);
"""
"""Sleeps for up to eight microseconds, one time in eight."""
SLEPT = ("acquire", "commit", "wait", "release", "take", "pass", "stmatrix", "wgmma_wait", "tma_store",
         "cluster_copy")  # fmt: skip


def delayed(text: str) -> str:
    """Return a spec whose warps sleep at random before the steps that synchronise."""
    data = yaml.safe_load(text)
    data.setdefault("work", {})["nap"] = {"aux": True, "cuda": NAP}

    def with_naps(block: list[Any]) -> list[Any]:
        slept = []
        for step in block:
            if isinstance(step, dict):
                for key in BODIES:
                    if isinstance(step.get(key), list):
                        step[key] = with_naps(step[key])
            slept += [{"do": "nap"}, step] if verb(step) in SLEPT else [step]
        return slept

    for task in data["tasks"].values():
        task["schedule"] = with_naps(task["schedule"])
    return written(data)
