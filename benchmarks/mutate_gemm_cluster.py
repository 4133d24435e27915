"""Faults of the GEMM whose CTAs add up through distributed shared memory.

They change who is sent what, when stages of others are taken and given back, and what lies over what.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from benchmarks.mutate import Mutation, Path, alter, at, bound, put, settings, steps, verb, within
from benchmarks.mutate_gemm_blocks import Edit, find, guard_step, lift, products_of, tiles_of

ELSEWHERE = "(other pieces)"
"""Ends the words of what sends other pieces than those that are added: the schedule may still be right."""

SETTINGS: dict[Path, tuple[Any, ...]] = {
    ("constants", "STAGES"): (1, 3, 4),
    ("constants", "OUT_STAGES"): (),
    ("constants", "SPLITS"): (1, 2, 3, 5, 8),
    ("constants", "SN"): (16, 32, 48, 96),
    ("constants", "CLUSTER_M"): (2,),
    ("constants", "WARPS"): (4,),
    ("launch", "cluster"): (
        {"split": "SPLITS"},
        {"m": 2, "split": "SPLITS"},
        {"n": 2, "split": "SPLITS"},
        {"split": "SPLITS", "m": 2},
        {"split": 2},
        {"m": 2, "split": 2},
        {"split": 8},
        {"m": "SPLITS"},
    ),
    ("resources", "tiles", "policy"): ("static", "atomic"),
    ("resources", "tiles", "axes"): ({"split": "SPLITS", "m": "m_tiles", "n": "n_tiles"},),
    ("resources", "ab", "released_by"): ("one",),
    ("resources", "theirs", "stages"): (1, 2, "SPLITS", 6),
    ("resources", "theirs", "released_by"): ("one",),
    ("resources", "theirs", "over"): ("ab", {"of": "ab", "stage": 1}, "mine", "out"),
    ("resources", "mine", "over"): ({"of": "ab", "stage": 1}, "ab.a", "theirs", "out"),
    ("resources", "out", "over"): ("ab", {"of": "ab", "stage": 1}, "ab.a", "mine", "theirs"),
    ("resources", "sums", "stages"): (2,),
    ("tasks", "send", "warps"): (2, 4),
    ("tasks", "send", "replicas"): (2,),
}
"""Other values of its settings."""

PIECE = "min({} * SN, BN - SN) // 8"
NEXT = "(cluster.split + round + 1) % SPLITS"
ROUNDS = "SPLITS - 1"
PLACES = (
    "cluster.split", "(cluster.split + round) % SPLITS", "(cluster.split + round + 2) % SPLITS",
    "(cluster.split + 1) % SPLITS", "(cluster.split + SPLITS - 1) % SPLITS", "(cluster.split + 2) % SPLITS",
    "SPLITS - 1 - cluster.split", "(cluster.split + round + 1) % 2", "cluster.split + round + 1",
    "min(cluster.split + round + 1, SPLITS - 1)", "(cluster.split + min(round, 1) + 1) % SPLITS",
    "(cluster.split * 3 + round + 1) % SPLITS", "round", "0",
)  # fmt: skip
"""CTAs that do not get each piece once: themselves, one of them always, one that is not there."""
ORDERS = (
    "(cluster.split + SPLITS - 1 - round) % SPLITS", "(cluster.split + 3 * (round + 1)) % SPLITS",
    "(cluster.split + (round + 1) % SPLITS) % SPLITS", "(cluster.split + (round + 1) % 3 + 1) % SPLITS",
    "(cluster.split + round + 1 + SPLITS) % SPLITS", "(cluster.split - round - 1 + SPLITS) % SPLITS",
)  # fmt: skip
"""All others in some order."""


def sends(data: Any) -> Iterator[Mutation]:
    """Change who is sent a piece, which one, and how often."""
    for path, i, step, _ in steps(data):
        if path[1] not in ("send", "math") or "send" not in data["tasks"]:
            continue
        new: list[tuple[dict[str, Any], str]] = []
        match verb(step):
            case "cluster_copy":
                pieces = ("0", "cluster.split * SN // 8", PIECE.format("round"))
                new = [({"cta": cta}, ELSEWHERE) for cta in PLACES]
                new += [({"at": [piece, 0, 0]}, ELSEWHERE) for piece in pieces]
                outside = "(cluster.split + round + 1) * SN // 8", f"{NEXT} * SN", "cluster.split - 1"
                new += [({"at": [piece, 0, 0]}, ELSEWHERE) for piece in outside]
                new += [({"at": [PIECE.format(NEXT), 64, 0]}, ELSEWHERE), ({"along": "m"}, ELSEWHERE)]
                new += [({"to": "out"}, ""), ({"to": "ab"}, ""), ({"cluster_copy": "theirs"}, ELSEWHERE)]
                new += [({"cta": cta, "at": [PIECE.format(cta), 0, 0]}, "") for cta in ORDERS]
            case "repeat":
                new = [({"repeat": value}, "") for value in (1, "SPLITS - 2", "2 * (SPLITS - 1)")]
        for update, end in new:
            words = f"`{verb(step)}: {step[verb(step)]}` with {update} in `{path[1]}` {end}".replace("'", "")
            yield Mutation("send", words.rstrip(), within(alter, path, i, update))
        extra: list[Any] = []
        match verb(step):
            case "cluster_copy":
                extra = [{"acquire": "theirs"}, {"commit": "theirs"}, {"wait": "sums"}]
            case "repeat":
                extra = [{"wait": "theirs"}, {"acquire": "theirs"}, {"commit": "theirs"}, {"release": "sums"}]
            case "tma_store":
                extra = [{"release": "theirs"}, {"wait": "sums", "observe": True}]
        for added in extra:
            words = f"put {added} before `{verb(step)}: {step[verb(step)]}` in `{path[1]}`".replace("'", "")
            yield Mutation("insert", words, within(put, path, i, added))


def _rounds(d: Any, task: str) -> Any:
    """Return the body of the rounds of a task, one for each other CTA."""
    block = tiles_of(d, task)
    return block[find(block, "repeat")]["body"]


def sent(data: Any) -> Iterator[Mutation]:
    """Change what is about copies, and several things together: who sends what, and how many tiles."""
    yield from sends(data)
    yield from settings(data, SETTINGS)
    for edits in (shares, brackets, alone):
        for words, edit in edits():
            yield Mutation("hunt", words, edit)


def shares() -> Iterator[tuple[str, Edit]]:
    """Other numbers of CTAs, with slices of other sizes."""

    def cut(d: Any, splits: int, columns: int, more: dict[str, int]) -> None:
        d["constants"].update(SPLITS=splits, SN=columns, **more)

    for splits, columns in ((1, 96), (2, 48), (3, 32), (4, 32), (5, 24), (6, 16), (8, 16)):
        yield f"{splits} parts of k, slices of {columns} columns", bound(cut, splits, columns, {})
    yield "2 parts of k, and b shared by 2", bound(cut, 2, 48, {"CLUSTER_M": 2})
    yield "4 parts of k, and b shared by 2", bound(cut, 4, 32, {"CLUSTER_M": 2})

    def differ(d: Any, rounds: str) -> None:
        for task in ("send", "math"):
            block = tiles_of(d, task)
            block[find(block, "repeat")]["repeat"] = rounds

    for rounds in ("SPLITS - 2", "SPLITS", "2 * (SPLITS - 1)", "min(SPLITS - 1, k_tiles)"):
        yield f"{rounds} rounds in both tasks {ELSEWHERE}", bound(differ, rounds)

    def unlike(d: Any, task: str, rounds: str) -> None:
        block = tiles_of(d, task)
        block[find(block, "repeat")]["repeat"] = rounds

    for task in ("send", "math"):
        words = f"a round less in the last CTA in `{task}` {ELSEWHERE}"
        yield words, bound(unlike, task, "SPLITS - 1 - cluster.split // (SPLITS - 1)")
        yield f"rounds up to k_tiles in `{task}` {ELSEWHERE}", bound(unlike, task, "min(SPLITS - 1, k_tiles)")


def brackets() -> Iterator[tuple[str, Edit]]:
    """Stages taken, sent and given back at other times, or under conditions."""
    guards = (
        "cluster.split > 0", "tile.split > 0", "tile.m % 2 == 0", "k_tiles > 0", "round > 0", "round < 9",
    )  # fmt: skip
    places = (
        ("send", "acquire"), ("send", "cluster_copy"), ("send", "commit"), ("math", "wait"),
        ("math", "release"),
    )  # fmt: skip

    def guarded(d: Any, task: str, word: str, guard: str) -> None:
        block = _rounds(d, task)
        guard_step(block, find(block, word), guard)

    for guard in guards:
        for task, word in places:
            yield f"`{word}` of a piece in `{task}` only when `{guard}`", bound(guarded, task, word, guard)

    def all_of(d: Any, guard: str) -> None:
        for task in ("send", "math"):
            block = _rounds(d, task)
            block[:] = [{"when": guard, "then": list(block)}]

    for guard in ("tile.m % 2 == 0", "k_tiles > 0", "cluster.split > 0", "round > 0"):
        yield f"pieces only when `{guard}` {ELSEWHERE}", bound(all_of, guard)

    def first(d: Any) -> None:
        block = tiles_of(d, "send")
        lift(block, find(block, "wait", "sums"), find(block, "repeat"))
        _rounds(d, "send").insert(1, {"when": "round == 0", "then": [block.pop(find(block, "wait", "sums"))]})

    yield "wait for the sums in the first round, behind `acquire`", first

    def early(d: Any, guard: str) -> None:
        block = tiles_of(d, "send")
        _rounds(d, "send").append({"when": guard, "then": [block.pop(find(block, "release", "sums"))]})

    for guard in ("round == 0", "round == SPLITS - 2"):
        yield f"release the sums when `{guard}`", bound(early, guard)

    def held(d: Any, keep: int) -> None:
        block = products_of(d)
        inner = _rounds(d, "math")
        inner[find(inner, "release", "theirs")]["keep"] = keep
        block.insert(find(block, "repeat") + 1, {"release": "theirs"})

    for keep in (1, 2, 3):
        yield f"keep {keep} pieces, and release them behind the rounds", bound(held, keep)

    def at_end(d: Any) -> None:
        block = products_of(d)
        inner = _rounds(d, "math")
        block.insert(find(block, "repeat") + 1, inner.pop(find(inner, "release", "theirs")))

    yield "release all pieces behind the rounds", at_end

    def observed(d: Any) -> None:
        inner = _rounds(d, "math")
        inner[find(inner, "wait")]["observe"] = True
        del inner[find(inner, "release", "theirs")]

    yield "observe pieces and never release", observed

    def unsignalled(d: Any) -> None:
        for task in ("math", "send"):
            block = tiles_of(d, task)
            block[:] = [step for step in block if "sums" not in step.values()]
        del d["resources"]["sums"]

    yield "no `sums`", unsignalled

    def loads_wait(d: Any) -> None:
        d["resources"]["out"]["over"] = "ab"
        block = products_of(d)
        block.insert(find(block, "do", "finish"), {"acquire": "sums"})
        block.insert(find(block, "do", "finish") + 1, {"commit": "sums"})

    yield "`out` over the operands, behind a second `acquire: sums`", loads_wait


def alone() -> Iterator[tuple[str, Edit]]:
    """Tiles one after the other, and sums that the task sends itself."""

    def pairs(d: Any, policy: str, stages: int, apart: bool) -> None:
        d["constants"].update(SPLITS=2, SN=48)
        d["resources"]["tiles"]["policy"] = policy
        d["resources"]["theirs"]["stages"] = stages
        if apart:
            del d["resources"]["mine"]["over"]

    for policy, stages, apart in (
        ("static", 1, False), ("static", 1, True), ("static", 2, True), ("static", 3, True),
        ("atomic", 1, True),
    ):  # fmt: skip
        words = f"{policy} tiles for two CTAs, {stages} stages" + (", `mine` apart" if apart else "")
        yield words, bound(pairs, policy, stages, apart)

    def by_itself(d: Any, before: str, policy: str = "grid", stages: int | None = None) -> None:
        if stages:
            pairs(d, policy, stages, apart=True)
        block = products_of(d)
        given = copy.deepcopy(tiles_of(d, "send")[1])
        del d["tasks"]["send"], d["resources"]["sums"]
        block[:] = [step for step in block if "sums" not in step.values()]
        if before == "spread":
            # For two CTAs alone: the one stage of a tile is taken before the sums are written.
            block.insert(find(block, "do", "spread"), given["body"].pop(0))
        block.insert(find(block, "do", "spread") + 1, given)

    yield "the task that multiplies sends", bound(by_itself, "copy")
    for policy, stages in (("static", 1), ("static", 2), ("atomic", 1)):
        for before in ("copy", "spread"):
            words = f"the task that multiplies sends, `acquire` before {before}, {policy} tiles"
            yield f"{words}, {stages} stages", bound(by_itself, before, policy, stages)

    def order(d: Any, task: str) -> None:
        d["tasks"] = {task: d["tasks"][task], **d["tasks"]}

    for task in ("send", "load"):
        yield f"`{task}` first", bound(order, task)

    def swapped(d: Any) -> None:
        inner = at(d, ("resources",))
        inner["theirs"]["over"], inner["mine"] = "ab", {k: v for k, v in inner["mine"].items() if k != "over"}

    yield "`theirs` over the operands, `mine` apart", swapped
