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
PAIRS = 20
"""Pairs of kernels in a graph of the chain."""


def lengths(kind: str) -> list[int]:
    """Return rows a segment."""
    draw = random.Random(0)
    long = {
        "even": lambda i: False,
        "one in ten, at random, 20 times longer": lambda i: draw.random() < 0.1,
        "every tenth 20 times longer": lambda i: i % 10 == 0,
    }[kind]
    if kind == "even":
        return [SHORT * 3] * SEGMENTS
    # A number of segments that puts every tenth on the same CTAs, as 130 of them make even waves.
    count = 1300 if kind.startswith("every") else SEGMENTS
    return [SHORT * 20 if long(i) else SHORT for i in range(count)]


KINDS = ("even", "one in ten, at random, 20 times longer", "every tenth 20 times longer")


def rotated(call: Callable[..., None], sets: list[tuple[Any, ...]]) -> Callable[[int], None]:
    """Return a launch that takes its arguments from one of the sets."""
    return lambda i: call(*sets[i])


def varlen(cubins: Path, turns: int, rows_of: Callable[..., Any]) -> list[dict[str, Any]]:
    """Packed segments copied by CTAs that take them by number, and as they come for them."""
    cases = []
    for kind in KINDS:
        here = lengths(kind)
        total = sum(here)
        offsets = torch.tensor([0, *itertools.accumulate(here)], dtype=torch.int32, device="cuda")
        sets = [
            (x := torch.randint(-9, 9, (total, ROW), device="cuda").bfloat16(), torch.empty_like(x))
            for _ in range(2)
        ]
        contestants = []
        for name, file in (("static", "copy_varlen"), ("atomic", "copy_varlen_policyatomic")):
            kernel = tsc.load(cubins / f"{file}.cubin")
            arguments = [(offsets, x, y) for x, y in sets]
            contestant = Contestant(name, rotated(kernel, arguments))
            sets[0][1].fill_(-99)
            contestant.launch(0)
            if not torch.equal(*sets[0]):
                raise SystemExit(f"{file} does not copy")
            contestants.append(contestant)
        contestants.append(Contestant("memcpy", rotated(lambda x, y: y.copy_(x), sets)))
        race(contestants, len(sets), turns=turns)
        size = 2 * total * ROW * 2
        case = f"{len(here):,} segments, {kind}"
        cases.append(
            {
                "case": case,
                "base": "static",
                "bytes": size,
                "rows": rows_of(contestants, size, contestants[0]),
            }
        )
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
