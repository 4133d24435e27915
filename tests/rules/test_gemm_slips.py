"""Slips in right GEMMs of every shape: each is found, by the rule that names it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.rules.harness import ROOT, SPECS
from tsc.check import Report, check_reading
from tsc.source import parse
from tsc.spec.overrides import parse_overrides

ONE_TILE, PERSISTENT, PING_PONG, SPLIT_K = "one_tile", "persistent", "ping_pong", "split_k"
LOOK = "              - try_wait: ab                      # look at stage k + 1 while wgmma k runs\n"
WAITS = "              - wgmma_wait: DEPTH\n"
GIVES = "              - {release: ab, keep: DEPTH}        # stage k - DEPTH and older\n"
ENDS = "          - wgmma_wait: 0\n          - release: ab\n"
BIAS = "          - do: add_bias\n"
STAGES = """\
              - acquire: out
              - {stmatrix: out, from: acc, at: [0, j * EN]}
              - commit: out
"""
STORES = "              - {tma_store: d, at: [tile.m * BM, tile.n * BN + j * EN], from: out}\n"
FILLS = "              - {stmatrix: out, from: acc, at: [0, j * EN]}\n"
RING = "{kind: smem, stages: OUT_STAGES, dtype: bf16, shape: [BM, EN]}"
PLAIN = (RING, "{kind: smem, dtype: bf16, shape: [BM, EN]}")
UNUSED = (", OUT_STAGES: 4", "")
DIRECT = "          - {store: d, from: acc, at: [tile.m * BM, tile.n * BN]}\n"
OVER = (
    "  acc: {kind: registers, dtype: f32, shape: [BM, BN]}\n",
    "  acc: {kind: registers, dtype: f32, shape: [BM, BN]}\n"
    "  out: {kind: smem, over: ab, dtype: bf16, shape: [BM, BN]}\n",
)
STAGED = """\
          - {stmatrix: out, from: acc}
          - {tma_store: d, at: [tile.m * BM, tile.n * BN], from: out}
"""
WAITED = "              - wgmma_wait: 0\n              - release: ab\n"
LATE = "              - wgmma_wait: 1\n              - {release: ab, keep: 1}\n"
PARTIAL = "          - {store: partial, from: acc, at: [tile.split, tile.m * BM, tile.n * BN]}\n"
FIRST = "            start: k_begin\n"
LOADS = "            body:\n              - acquire"
COUNTS = "          - {count_in: arrived, at: [tile.m, tile.n], of: SPLITS, last: last}\n"


@dataclass(frozen=True)
class Slip:
    """What is written in place of what, and the rules that find it; none where it is right all the same."""

    base: str
    edits: tuple[tuple[str, str], ...]
    rules: frozenset[str]


def slip(base: str, *edits: tuple[str, str], rules: str) -> Slip:
    return Slip(base, edits, frozenset(rules.split()))


SLIPS = {
    "gives back before the product has read": slip(
        PERSISTENT, (WAITS + GIVES, GIVES + WAITS), rules="release-before-wgmma-wait"
    ),
    "gives back the stage that is read": slip(
        PERSISTENT, (", keep: DEPTH}", "}"), rules="release-before-wgmma-wait"
    ),
    "waits for one group too few": slip(
        PERSISTENT, ("wgmma_wait: DEPTH", "wgmma_wait: DEPTH + 1"), rules="release-before-wgmma-wait"
    ),
    "never waits in the loop": slip(PERSISTENT, (WAITS, ""), rules="release-before-wgmma-wait"),
    "never waits at the end": slip(
        PERSISTENT, (ENDS, "          - release: ab\n"), rules="release-before-wgmma-wait"
    ),
    "never gives back": slip(PERSISTENT, (GIVES, ""), rules="more-held-than-stages"),
    "reads accumulators that are still written": slip(
        PERSISTENT, (ENDS + BIAS, BIAS + ENDS), rules="race-with-engine"
    ),
    "looks in place of waiting": slip(
        PERSISTENT,
        ("              - wait: ab\n", "              - try_wait: ab\n"),
        rules="read-outside-wait",
    ),
    "does not count the peer's readers": slip(
        PERSISTENT, ("empty_arrivals: 4", "empty_arrivals: 2"), rules="peers-not-counted"
    ),
    "adds to what nobody has cleared": slip(
        PERSISTENT, (", accumulate: iter > 0", ""), rules="register-read-before-write"
    ),
    "adds in the first round": slip(
        ONE_TILE, ("accumulate: iter > 0", "accumulate: iter < 4"), rules="register-read-before-write"
    ),
    "stores what is not handed over": slip(
        PERSISTENT, (STAGES + STORES, STAGES[: STAGES.index("              - commit")] + STORES
                     + "              - commit: out\n"), rules="read-outside-wait"
    ),
    "stages without acquiring": slip(
        PERSISTENT, ("              - acquire: out\n", ""), rules="write-outside-acquire"
    ),
    "stages over a store": slip(
        PERSISTENT, PLAIN, UNUSED, (STAGES, FILLS), rules="staging-reused not-generated"
    ),
    "stages while the youngest store reads": slip(
        PERSISTENT, PLAIN, UNUSED, (STAGES, "              - store_wait: 1\n" + FILLS), rules="staging-reused"
    ),
    "waits for stores before it stages": slip(
        PERSISTENT, PLAIN, UNUSED, (STAGES, "              - store_wait: 0\n" + FILLS), rules=""
    ),
    "stages over the inputs of its one tile": slip(ONE_TILE, OVER, (DIRECT, STAGED), rules=""),
    "stages over inputs of the next tile": slip(
        ONE_TILE,
        OVER,
        (DIRECT, STAGED + "          - store_wait: 0\n"),
        ("policy: grid", "policy: static"),
        rules="overlay-race",
    ),
    "stages over inputs that are read": slip(
        ONE_TILE,
        OVER,
        (WAITED, LATE),
        (DIRECT, STAGED + ENDS),
        rules="overlay-race race-with-engine",
    ),
    "clears what is in flight": slip(
        ONE_TILE,
        ("              - {wgmma: acc, a: ab.a, b: ab.b, accumulate: iter > 0}\n" + WAITED,
         "              - zero: acc\n              - {wgmma: acc, a: ab.a, b: ab.b}\n" + LATE),
        (DIRECT, ENDS + DIRECT),
        rules="race-with-engine",
    ),
    "never takes its turn": slip(PING_PONG, ("              - take: math_turn\n", ""), rules="unpaired-turn"),
    "passes over one stage too few": slip(
        PING_PONG, ("count: k_tiles}", "count: k_tiles - 1}"), rules="unconsumed-fill arrival-out-of-phase"
    ),
    "shares one staging ring": slip(
        PING_PONG, ("per: math, stages: 2", "stages: 2"), rules="shared-store-ring"
    ),
    "gives back for the other": slip(
        PING_PONG,
        ("    released_by: one                 # a stage belongs to one of the two consumers\n", ""),
        rules="skip-of-shared-ring",
    ),
    "counts in before it writes": slip(
        SPLIT_K, (PARTIAL + COUNTS, COUNTS + PARTIAL), rules="write-after-count"
    ),
    "reads parts that are not there": slip(
        SPLIT_K,
        ("          - when: last\n", "          - when: last or tile.split == 0\n"),
        rules="unfinished-read",
    ),
    "writes before the product is done": slip(
        SPLIT_K, (ENDS + PARTIAL, PARTIAL + ENDS), rules="race-with-engine"
    ),
    "loads from another block on": slip(
        SPLIT_K,
        (FIRST + LOADS, LOADS),
        rules="unequal-trip-counts",
    ),
}  # fmt: skip


def checked(one: Slip) -> Report:
    text = (ROOT / SPECS / "accept" / f"product_{one.base}.tsc.yaml").read_text("utf-8")
    for old, new in one.edits:
        assert old in text, old
        text = text.replace(old, new, 1)
    return check_reading(parse(text, "gemm.tsc.yaml", "yaml"), parse_overrides((), ()))


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_is_found_and_named(name: str) -> None:
    found = checked(SLIPS[name])
    assert {it.name for it in found.found} == SLIPS[name].rules, [it.message for it in found.found]
    if not SLIPS[name].rules:
        assert found.judgement is not None and found.judgement.outcome == "proved"
