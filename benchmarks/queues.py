"""Suites on who hands out the tiles, and on a chain whose second kernel starts early."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import tsc
from benchmarks.interleave import Contestant, race

ROW = 512
"""Columns of copy/varlen."""
SHORT = 68
"""Rows of a short segment: 1,320 of which one in ten has twenty times as many make some 256 MiB."""
SEGMENTS = 1320
DRAWS = 4
"""Arrangements of the long segments, taken in turn."""
PAIRS = 20
"""Pairs of kernels in a graph of the chain."""

KINDS = ("all equal", "one in ten, at random, 20 times longer", "every tenth 20 times longer")


def lengths(kind: str, number: int) -> list[int]:
    """Return rows a segment, in the arrangement of this number."""
    if kind == KINDS[0]:
        return [SHORT * 3] * SEGMENTS
    if kind == KINDS[1]:
        draw = random.Random(number)
        return [SHORT * 20 if draw.random() < 0.1 else SHORT for _ in range(SEGMENTS)]
    # So many segments take 130 CTAs in even waves, and every tenth is always the same 13 CTAs'.
    return [SHORT if i % 10 else SHORT * 20 for i in range(SEGMENTS - 20)]


def rotated(call: Callable[..., None], sets: list[tuple[Any, ...]]) -> Callable[[int], None]:
    """Return a launch that takes its arguments from one of the sets."""
    return lambda i: call(*sets[i])


def void(_: Any) -> None:
    """Drop what a call returns."""


def varlen(cubins: Path, turns: int, rows_of: Callable[..., Any]) -> list[dict[str, Any]]:
    """Packed segments copied by CTAs that take them by number, and as they come for them."""
    cases = []
    for kind in KINDS:
        sets, rows = [], 0
        for number in range(DRAWS):
            here = lengths(kind, number)
            x = torch.randint(-9, 9, (sum(here), ROW), device="cuda").bfloat16()
            offsets = torch.tensor([0, *itertools.accumulate(here)], dtype=torch.int32, device="cuda")
            sets.append((offsets, x, torch.empty_like(x)))
            rows += len(x)
        contestants = []
        for path in sorted(cubins.glob("copy_varlen*.cubin")):
            contestant = Contestant(path.stem, rotated(tsc.load(path), sets))
            for i, (_, x, y) in enumerate(sets):
                y.fill_(-99)
                contestant.launch(i)
                if not torch.equal(x, y):
                    raise SystemExit(f"{path.stem} does not copy")
            contestants.append(contestant)
        contestants.append(Contestant("memcpy", rotated(lambda _, x, y: void(y.copy_(x)), sets)))
        race(contestants, len(sets), turns=turns, launches=3 * DRAWS, warm=DRAWS)
        size = 2 * rows * ROW * 2 // DRAWS
        case = f"{len(here):,} segments, {kind}"
        named = {"case": case, "base": contestants[0].name, "bytes": size}
        cases.append({**named, "rows": rows_of(contestants, size, contestants[0])})
    return cases


def chain(cubins: Path, turns: int, rows_of: Callable[..., Any]) -> list[dict[str, Any]]:
    """Two small kernels in turn, in a graph of 20 pairs, with and without an early start."""
    cases = []
    for rows in (132, 1056):
        x = torch.randn(rows, 2048, device="cuda").bfloat16()
        w = torch.randn(2048, device="cuda").bfloat16()
        y, z = torch.empty_like(x), torch.empty_like(x)
        contestants = []
        for name, suffix in (("one after the other", "_PDLfalse"), ("second starts early", "")):
            first = tsc.load(cubins / f"copy_pdl_chain_first{suffix}.cubin")
            second = tsc.load(cubins / f"copy_pdl_chain_second{suffix}.cubin")
            torch.cuda.synchronize()
            z.fill_(float("nan"))
            torch.cuda.synchronize()
            first(x, y)
            second(y, w, z)
            if not torch.equal(z, (x.float() * w.float()).bfloat16()):
                raise SystemExit(f"the chain, {name}, is wrong")
            stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                for _ in range(PAIRS):
                    first(x, y)
                    second(y, w, z)
            contestants.append(Contestant(name, rotated(graph.replay, [()])))
        race(contestants, 1, turns=turns, launches=20)
        for contestant in contestants:
            contestant.seconds[:] = [one / PAIRS for one in contestant.seconds]
        size = 4 * rows * 2048 * 2
        case = f"{rows:,} x 2,048 bf16, microseconds a pair"
        named = {"case": case, "base": contestants[0].name, "bytes": size}
        cases.append({**named, "rows": rows_of(contestants, size, contestants[0])})
    return cases
