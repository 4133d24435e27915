"""Faults in GEMM schedules that are sought on purpose: where a proof could be too generous.

Each is a list of edits; most need two, since the first alone is rejected for another reason. Conditions and
trip counts that differ between the CTAs of a cluster, waits that owe nothing, counts of stores where stages
have two or none, turns that are given away too early, and results that are read while products run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.mutate import Mutation, bound
from benchmarks.mutate_gemm_blocks import (
    Edit,
    epilogue_of,
    find,
    guard_step,
    lift,
    products_of,
    rounds_of,
    tiles_of,
)
from benchmarks.mutate_gemm_cluster import sent
from benchmarks.mutate_gemm_stores import counted, looks, stores, turns


def products(data: Any) -> Iterator[tuple[str, Edit]]:
    """Results read, or accumulators written, while products run."""

    def late(d: Any, keep_release: bool) -> None:
        block = products_of(d)
        wait = block.pop(find(block, "wgmma_wait", 0))
        release = block.pop(find(block, "release", "ab"))
        end = len(block) if not any("pass" in step for step in block) else find(block, "pass", "store_turn")
        block[end:end] = [wait, release]
        if keep_release:
            block.insert(epilogue_of(block), {"release": "ab", "keep": 1})

    yield "wait for the last product behind the stores", bound(late, False)
    yield "wait for the last product behind the stores, releasing all but one before", bound(late, True)

    def clear_early(d: Any) -> None:
        block = products_of(d)
        lift(block, find(block, "when"), find(block, "wgmma_wait", 0))

    yield "clear before the last wait", clear_early

    def clear_always(d: Any) -> None:
        block = products_of(d)
        block.insert(find(block, "domain_loop"), {"zero": "acc"})
        step = rounds_of(block)[find(rounds_of(block), "wgmma")]
        step["accumulate"] = True
        del block[find(block, "when")]

    yield "clear first, then always accumulate", clear_always

    def clear_in_round(d: Any) -> None:
        block = rounds_of(products_of(d))
        block.insert(find(block, "wgmma") + 1, {"first_iter": [{"zero": "acc"}]})

    yield "clear behind the first product", clear_in_round

    def two(d: Any) -> None:
        block = rounds_of(products_of(d))
        at = find(block, "release", "ab")
        block.insert(at + 1, {"release": "ab", "keep": 0})

    yield "release all but one, then all", two

    def guarded_wait(d: Any, condition: str) -> None:
        block = rounds_of(products_of(d))
        guard_step(block, find(block, "wgmma_wait"), condition)

    for condition in ("tile.m % 2 == 0", "loop % 2 == 0", "iter < 3", "tile.seq > 0", "k_tiles > 4"):
        yield f"wait for products only when `{condition}`", bound(guarded_wait, condition)

    def last_product(d: Any) -> None:
        block = products_of(d)
        guard_step(block, find(block, "wgmma_wait", 0), "k_tiles > 1")

    yield "wait for the last product only when `k_tiles > 1`", last_product

    def epilogue_between(d: Any) -> None:
        block = products_of(d)
        wait = block[find(block, "wgmma_wait", 0)]
        wait["wgmma_wait"] = 1
        release = block[find(block, "release", "ab")]
        release["keep"] = 1
        end = len(block) if not any("pass" in step for step in block) else find(block, "pass", "store_turn")
        block[end:end] = [{"wgmma_wait": 0}, {"release": "ab"}]

    yield "let one product run under the stores", epilogue_between


def rings(data: Any) -> Iterator[tuple[str, Edit]]:
    """Waits that owe nothing, tries that nobody uses, stages that go to nobody."""

    def change(d: Any, verb: str, update: dict[str, Any]) -> None:
        block = rounds_of(products_of(d))
        block[find(block, verb)].update(update)

    def observed(d: Any) -> None:
        change(d, "wait", {"observe": True})
        block = products_of(d)
        del block[find(block, "release", "ab")]
        del rounds_of(block)[find(rounds_of(block), "release", "ab")]

    yield "observe and never release", observed

    def half_observed(d: Any) -> None:
        change(d, "wait", {"observe": True})
        block = products_of(d)
        del block[find(block, "release", "ab")]

    yield "observe, and release in the loop alone", half_observed

    def tail_only(d: Any) -> None:
        block = products_of(d)
        del rounds_of(block)[find(rounds_of(block), "release", "ab")]

    yield "release behind the loop alone", tail_only

    def every_two(d: Any, keep: object) -> None:
        block = rounds_of(products_of(d))
        release = block.pop(find(block, "release", "ab"))
        block.append({"every": 2, "start": 1, "body": [{**release, "keep": keep}]})

    for keep in (0, 1, 2):
        yield f"release all but {keep} in every other round", bound(every_two, keep)

    def conditional(d: Any, task: str, verb: str, value: object, condition: str) -> None:
        block = rounds_of(products_of(d) if task == "math" else tiles_of(d, "load"))
        guard_step(block, find(block, verb, value), condition)

    places = (
        ("load", "tma_load", "b"),
        ("load", "tma_load", "a"),
        ("load", "commit", "ab"),
        ("math", "release", "ab"),
        ("math", "try_wait", "ab"),
        ("math", "wait", "ab"),
    )
    for condition in (
        "tile.m % 2 == 0",
        "tile.n % 2 == 0",
        "tile.m % 2 == 0 or iter > 0",
        "tile.seq % 2 == 0",
    ):
        for task, verb, value in places:
            words = f"`{verb}: {value}` only when `{condition}` in `{task}`"
            yield (
                words,
                bound(conditional, task, verb, value, condition),
            )

    def rounds(d: Any, change: str) -> None:
        block = products_of(d)
        loop = block[find(block, "domain_loop")]
        end = change.format(loop["domain_loop"])
        clear = block[find(block, "when")]
        clear["when"] = f"{end} <= {loop.get('start', 0)}"
        for other in (step for whole in tiles_of(d, "math") for step in whole.get("else", ())):
            if "skip" in other:
                other["count"] = f"max(0, {end})"
        for inner in (block, tiles_of(d, "load")):
            inner[find(inner, "domain_loop")]["domain_loop"] = end

    # The CTAs of a cluster then differ in how often they send to each other.
    yield "one round less where `tile.m` is odd, in all tasks", bound(rounds, "{} - tile.m % 2")
    yield "one round less where `tile.m` is not 0, in all tasks", bound(rounds, "{} - min(1, tile.m)")
    yield "no rounds where `tile.m` is 0, in all tasks", bound(rounds, "min({}, tile.m * k_tiles)")

    def skipped(d: Any, condition: str, tasks: tuple[str, ...]) -> None:
        for task in tasks:
            loop = next(s for s in d["tasks"][task]["schedule"] if "work_tile_loop" in s)
            loop["skip_if"] = condition
            loop["body"] = [{"skippable": loop["body"]}]

    for condition in ("tile.m % 2 == 1", "tile.m > m_tiles", "tile.n > n_tiles"):
        yield f"skip tiles where `{condition}`", bound(skipped, condition, ("math", "load"))
        yield f"skip tiles where `{condition}` in `load`", bound(skipped, condition, ("load",))

    def walked(d: Any, condition: str) -> None:
        d["let"]["k_at"] = f"(k_tiles - 1 - loop if {condition} else loop) * BK"

    if "k_at" in data["let"]:
        for condition in (
            "tile.m % 2 == 1",
            "tile.n % 2 == 1",
            "tile.m // 2 % 2 == 1",
            "iter >= 0",
            "tile.seq > 3",
        ):
            yield f"walk k backwards where `{condition}`", bound(walked, condition)

    def both(d: Any) -> None:
        block = rounds_of(tiles_of(d, "load"))
        block.insert(find(block, "commit", "ab"), {"commit": "ab", "keep": 1})

    yield "commit all but one, then all", both

    def two_a_round(d: Any) -> None:
        block = products_of(d)
        block[find(block, "domain_loop")]["body"] = [{"when": "iter >= 0", "then": rounds_of(block)}]

    yield "put the whole round under `iter >= 0`", two_a_round


def hunted(data: Any) -> Iterator[Mutation]:
    """Return all of them as mutations of one sort; where CTAs send to each other only what is about that."""
    if "send" in data["tasks"]:
        yield from sent(data)
        return
    for sort in (products, rings, stores, turns, counted):
        for words, edit in sort(data):
            yield Mutation("hunt", words, edit)


def forms(data: Any) -> Iterator[tuple[str, Edit]]:
    """Loops over k that are unrolled or cut up: the same schedule, in other code."""

    def reshaped(d: Any, task: str, update: dict[str, Any]) -> None:
        block = products_of(d) if task == "math" else tiles_of(d, "load")
        block[find(block, "domain_loop")].update(update)

    block = products_of(data)
    loop = block[find(block, "domain_loop")]
    first, last = f"{loop.get('start', 0)} + 1", f"{loop['domain_loop']} - 1"
    changes: list[dict[str, Any]] = [{"unroll": count} for count in (2, 3, 4)]
    changes += [{"split_at": [first]}, {"split_at": [last]}, {"split_at": [first, last]}]
    for task in ("math", "load"):
        for update in changes:
            yield f"{update} in `{task}`".replace("'", ""), bound(reshaped, task, update)


def looked(data: Any) -> Iterator[Mutation]:
    """Return the looks and the forms of loops as mutations."""
    for words, edit in looks(data):
        yield Mutation("hunt", words, edit)
    for words, edit in forms(data):
        yield Mutation("form", words, edit)
