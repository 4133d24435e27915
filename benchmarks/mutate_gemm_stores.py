"""Faults that are sought behind the products of a GEMM: stores, turns, and parts that others add up."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from benchmarks.mutate import bound, steps
from benchmarks.mutate_gemm_blocks import (
    Edit,
    epilogue_of,
    find,
    lift,
    products_of,
    rounds_of,
    stores_of,
    tiles_of,
)


def stores(data: Any) -> Iterator[tuple[str, Edit]]:
    """Stages of the store ring with two stores or none, and waits that count stores."""
    if not any("stmatrix" in step for _, _, step, _ in steps(data)):
        return

    def again(d: Any, condition: str | None) -> None:
        block = stores_of(products_of(d))
        at = find(block, "tma_store")
        copied = copy.deepcopy(block[at])
        block.insert(at + 1, {"when": condition, "then": [copied]} if condition else copied)

    yield "store each stage twice", bound(again, None)
    for condition in ("tile.m % 2 == 0", "tile.seq % 3 == 1", "k_tiles > 2"):
        yield f"store each stage twice when `{condition}`", bound(again, condition)

    def once(d: Any, condition: str) -> None:
        block = stores_of(products_of(d))
        at = find(block, "tma_store")
        block[at] = {"when": condition, "then": [block[at]], "else": [copy.deepcopy(block[at])]}

    yield "store in one of two branches", bound(once, "tile.m % 2 == 0")

    def unstored(d: Any) -> None:
        block = stores_of(products_of(d))
        at = find(block, "acquire", "out")
        copied = copy.deepcopy(block[at : at + 3])
        block[at:at] = [{"when": "tile.m % 2 == 0", "then": copied}]

    yield "fill a stage and do not store it, when `tile.m % 2 == 0`", unstored

    def late_store(d: Any) -> None:
        block = stores_of(products_of(d))
        at = find(block, "tma_store")
        block[at:at] = ["task_sync", {"store_wait": 1}]

    yield "wait for all stores but one before the store", late_store

    def swapped(d: Any) -> None:
        block = stores_of(products_of(d))
        block[find(block, "stmatrix")]["stmatrix"] = "ab.a"

    yield "write results into the operands' stage", swapped

    def staged(d: Any) -> None:
        block = products_of(d)
        inner = stores_of(block)
        block.insert(epilogue_of(block), inner.pop(find(inner, "acquire", "out")))
        inner.append({"acquire": "out"})

    yield "acquire the next stage behind each store", staged

    def plain(d: Any) -> None:
        del d["resources"]["out"]["stages"]
        block = stores_of(products_of(d))
        for verb in ("acquire", "commit"):
            del block[find(block, verb, "out")]

    yield "store from a plain buffer", plain

    def plain_waited(d: Any, until: int) -> None:
        plain(d)
        block = stores_of(products_of(d))
        block.insert(0, {"store_wait": until})

    for until in (0, 1):
        yield f"store from a plain buffer, after `store_wait: {until}`", bound(plain_waited, until)


def turns(data: Any) -> Iterator[tuple[str, Edit]]:
    """Turns given away too early, or not at all."""
    if "math_turn" not in data["resources"]:
        return

    def without(d: Any, turn: str) -> None:
        block = products_of(d)
        block[:] = [step for step in block if turn not in (step.get("take"), step.get("pass"))]
        del d["resources"][turn]

    for turn in ("math_turn", "store_turn"):
        yield f"no `{turn}`", bound(without, turn)

    def neither(d: Any) -> None:
        without(d, "math_turn")
        without(d, "store_turn")

    yield "no turns", neither

    def early(d: Any, guard: str) -> None:
        block = products_of(d)
        given = block.pop(find(block, "pass", "math_turn"))
        rounds_of(block).insert(0, {guard: [given]})

    for guard in ("first_iter", "last_iter"):
        yield f"pass `math_turn` in the {guard}", bound(early, guard)

    def at_once(d: Any) -> None:
        block = products_of(d)
        lift(block, find(block, "pass", "math_turn"), 1)

    yield "take `math_turn` and pass it at once", at_once

    def nested(d: Any) -> None:
        block = products_of(d)
        lift(block, find(block, "take", "store_turn"), 0)

    yield "take `store_turn` first", nested

    def held(d: Any) -> None:
        block = products_of(d)
        lift(block, find(block, "pass", "math_turn"), len(block) - 1)

    yield "pass `math_turn` behind the stores", held

    def outside(d: Any) -> None:
        block = products_of(d)
        loop = block[find(block, "domain_loop")]
        block.remove({"take": "math_turn"})
        loop["body"].insert(0, {"first_iter": [{"take": "math_turn"}]})

    yield "take `math_turn` in the first round", outside

    def skip_first(d: Any) -> None:
        body = tiles_of(d, "math")
        del body[0]["else"]
        body.insert(0, {"when": "tile.seq % 2 != replica", "then": [{"skip": "ab", "count": "k_tiles"}]})

    yield "skip in a branch of its own", skip_first

    def skip_ahead(d: Any) -> None:
        body = tiles_of(d, "math")
        del body[0]["else"]
        body[0]["then"].append({"skip": "ab", "count": "k_tiles"})

    yield "skip behind the own tile", skip_ahead

    def skip_ahead_right(d: Any) -> None:
        skip_ahead(d)
        body = tiles_of(d, "math")
        body.insert(
            0, {"when": "replica == 1 and tile.seq == 0", "then": [{"skip": "ab", "count": "k_tiles"}]}
        )

    yield "skip behind the own tile, replica 1 also before its first", skip_ahead_right

    def every_third(d: Any) -> None:
        d["tasks"]["math"]["replicas"] = 3
        d["tasks"]["math"]["registers"] = 152
        tiles_of(d, "math")[0]["when"] = "tile.seq % 3 == replica"

    yield "three replicas", every_third


def looks(data: Any) -> Iterator[tuple[str, Edit]]:
    """Looks at stages whose fill before the wanted one may still be under way."""

    def at_front(d: Any) -> None:
        products_of(d).insert(0, {"try_wait": "ab"})

    yield "look before the tile", at_front

    def at_end(d: Any) -> None:
        products_of(d).append({"try_wait": "ab"})

    yield "look behind the tile", at_end

    def every_tile(d: Any) -> None:
        tiles_of(d, "math").insert(0, {"try_wait": "ab"})

    yield "look first in every turn of the loop", every_tile

    def skipped(d: Any) -> None:
        for step in tiles_of(d, "math"):
            if "else" in step:
                step["else"].append({"try_wait": "ab"})

    if any("else" in step for step in tiles_of(data, "math") if isinstance(step, dict)):
        yield "look behind the skip", skipped


def counted(data: Any) -> Iterator[tuple[str, Edit]]:
    """Parts that are added up before all are there."""
    if "arrived" not in data.get("workspace", {}):
        return

    def always(d: Any) -> None:
        block = products_of(d)
        block[find(block, "when", "last")]["when"] = "last or tile.split == 0"

    yield "add up in split 0 too", always

    def earlier(d: Any) -> None:
        block = products_of(d)
        lift(block, find(block, "do", "save"), find(block, "count_in"))

    yield "count in before saving", earlier

    def twice(d: Any) -> None:
        block = products_of(d)
        block.insert(find(block, "count_in"), copy.deepcopy(block[find(block, "count_in")]))

    yield "count in twice", twice

    def unwaited(d: Any) -> None:
        block = products_of(d)
        lift(block, find(block, "do", "save"), find(block, "wgmma_wait", 0))

    yield "save while products run", unwaited

    def accumulates(d: Any) -> None:
        block = rounds_of(products_of(d))
        block[find(block, "wgmma")]["accumulate"] = "loop > 0"

    yield "accumulate where `loop > 0`, which starts later than 0", accumulates
