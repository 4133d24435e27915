"""Every mistake that the models find, in one edit of a spec without any: place, rule, sentence and help.

The sentences are in tests/golden/spec/test_messages/, one file a group.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.spec.base import BASE, edited, load

Edit = tuple[str, str]
RING = "ring: {kind: smem, stages: STAGES, dtype: bf16, shape: [ROWS, 64]}"
AT = "at: [tile.row * ROWS, tile.column * 64], to"
STEP = "- acquire: ring"

GROUPS: dict[str, tuple[tuple[Edit, ...], ...]] = {
    "keys": (
        (("kernel: scale", "kernle: scale"),),
        (("policy: static", "polcy: static"),),
        (("policy: static, axes: {row: m_tiles, column: n_tiles}", "foo: 1"),),
        (("policy: static, ", ""),),
        (("tsc: 1\n", ""),),
        ((STEP, "- {acquire: ring, keep: 1}"),),
        (("commit: ring", "{commit: ring, kep: 1}"),),
        ((STEP, "- {acquire: ring, colour: 1}"),),
        (("kind: smem, ", "kind: tmem, swizzle: 64, "),),
        ((", to: ring", ""),),
        (("at: [tile.row", "att: [tile.row"),),
        (("from: ring", "form: ring"),),
        (("    warps: 1\n    schedule:", "    schedule:"),),
        (("x: {dtype: bf16, shape: [m, n]}", "x: {}"),),
    ),
    "types": (
        (("warps: 1", "warps: 1.5"),),
        (("warps: 1", "warps:"),),
        (("warps: 1", "warps: [1]"),),
        (("warps: 1", "warps: {a: 1}"),),
        (("kernel: scale", "kernel: 5"),),
        (("target: sm_90a", "target: 90"),),
        (("target: sm_90a", "target: []"),),
        (("target: sm_90a", "target: {a: b}"),),
        ((AT, "at: tile.row, to"),),
        ((AT, "at: [1.5, {a: b}, [c], ''], to"),),
        (("dims:", "launch: []\ndims:"),),
        (("dims:", "launch: {ctas_per_sm: '1', non_portable_cluster: yes}\ndims:"),),
        (
            ("params:\n  x: {dtype: bf16, shape: [m, n]}", "params:\n - x: {dtype: bf16, shape: [m, n]}"),
            ("  y: {dtype: bf16, shape: [m, n]}\n", ""),
        ),
        (
            (
                "schedule:\n      - work_tile_loop: tiles\n        body:",
                "schedule:\n        work_tile_loop: tiles\n        body:",
            ),
        ),
        (("kind: smem, ", "kind: smem, over: [a], interleave: true, "),),
        (("kind: smem, ", "kind: smem, over: {of: a, stag: 1}, "),),
        (("x: {dtype: bf16", "x: {major: true, packed: 1, constant: 'true', dtype: bf16"),),
        (("tasks:", "include: header.cuh\ntasks:"),),
        (("tasks:", "include: [5]\ntasks:"),),
        ((STEP, "- acquire:"),),
        ((STEP, "-"),),
        ((STEP, "- acquire: 5"),),
        (
            (
                "dims:",
                "verify: {tolerance: {rtol: '1'}, inputs: {x: {range: [0, .inf]}}, cases: [{m: '1'}]}\ndims:",
            ),
        ),
    ),
    "constants": (
        (("ROWS: 64", "ROWS: BK // 2"),),
        (("ROWS: 64", "ROWS: yes"),),
        (("ROWS: 64", "ROWS: 1.5"),),
        (("ROWS: 64", "ROWS: '64'"),),
        (("ROWS: 64", "ROWS: [1]"),),
    ),
    "choices": (
        (("dtype: bf16", "dtype: float16"),),
        (("policy: static", "policy: statik"),),
        (("dtype: bf16", "dtype: bf61"),),
        (("dtype: bf16", "dtype: [a]"),),
        (("kind: smem, ", "kind: smem, swizzle: '64', "),),
        (("kind: smem, ", "kind: smem, swizzle: 48, "),),
        (("kind: smem, ", "kind: smem, swizzle: 64.0, "),),
        (("dims:", "launch: {cta_group: 3}\ndims:"),),
        (("dims:", "launch: {cta_group: true}\ndims:"),),
    ),
    "versions": (
        (("tsc: 1", "tsc: 2"),),
        (("tsc: 1", "tsc: 0"),),
        (("tsc: 1", "tsc: '1'"),),
        (("tsc: 1", "tsc: true"),),
        (("tsc: 1", "tsc: 1.0"),),
        (("tsc: 1", "tsc: [1]"),),
    ),
    "expressions": (
        (("warps: 1", "warps: 1 +"),),
        (("warps: 1", "warps: 4 / 2"),),
        ((STEP, "- acquire: ring[1 +]"),),
        ((AT, "at: [min(a, b], to"),),
    ),
    "cuts": (
        ((AT, "at: [cdiv(h, TH), 0], to"),),
        ((AT, "at: [max(a, 4, b) + 1, min(c, d)], to"),),
        (("{row: m_tiles, column", "{row: cdiv(m, ROWS), column"),),
        ((STEP, "- {acquire: ring, keep: min(1, 2)}"),),
        (("dims:", "launch: {grid: [cdiv(m, 64), cdiv(n, 64), 1]}\ndims:"),),
    ),
    "names": (
        (("ring: {kind", "part: {kind"),),
        (("kernel: scale", "kernel: part"),),
        (("kernel: scale", "kernel: namespace"),),
        (("kernel: scale", "kernel: lambda"),),
        (("kernel: scale", "kernel: 3d"),),
        (("kernel: scale", "kernel: ''"),),
        (("ROWS: 64", "min: 64"),),
    ),
    "references": (
        ((STEP, "- acquire: ring.a.b.c"),),
        ((STEP, "- acquire: ring + 1"),),
        ((STEP, "- acquire: ''"),),
    ),
    "steps": (
        ((STEP, "- {mma: acc, a: left, b: right}"),),
        ((STEP, "- tcgen05.commit: acc"),),
        ((STEP, "- tcgen05_wait::ld"),),
        ((STEP, "- tcgen05_alloc: acc"),),
        ((STEP, "- __syncthreads()"),),
        ((STEP, "- do f"),),
        ((STEP, "- call: start"),),
        ((STEP, "- acquirre: ring"),),
        ((STEP, "- {wait: ring, release: ring}"),),
        ((STEP, "- {wait: ring, skip: ring, release: [a]}"),),
        ((STEP, "- acquire"),),
        ((STEP, "- skip"),),
        ((STEP, "- pdl_wiat"),),
        ((STEP, "- pdl_wait:"),),
        ((STEP, "- acquire ring"),),
        ((STEP, "- ring.acquire()"),),
        ((STEP, "- ring.acquire:"),),
        ((STEP, "- ''"),),
        ((STEP, "- frobnicate"),),
        ((STEP, "- [acquire]"),),
        ((STEP, "- 5"),),
        ((STEP, "- {}"),),
        ((STEP, "- {colour: ring, keep: 1}"),),
    ),
    "kinds": (
        (("kind: smem", "kind: shared"),),
        (("kind: smem", "kind: smme"),),
        (("kind: smem, ", ""),),
        (("kind: smem", "knd: smem"),),
        ((RING, "ring: smem"),),
        ((RING, "ring: 4"),),
        (("kind: smem", "kind: [a]"),),
        ((RING, "ring: {}"),),
        (("policy: static", "policy: static, order: hilbert"),),
        (("policy: static", "policy: static, order: {kind: hilbret}"),),
        (("policy: static", "policy: static, order: {kind: linear, revers: [row]}"),),
    ),
    "ranges": (
        (("dims:", "launch: {grid: [1, 2, 3, 4], ctas_per_sm: 0}\ndims:"),),
        (("dims:", "launch: {grid: [], ctas_per_sm: 64}\ndims:"),),
        (("kind: smem, ", "kind: smem, interleave: {producer: 0}, "),),
        (("dims:", "verify: {inputs: {x: {range: [0]}}, tolerance: {rtol: -1}}\ndims:"),),
    ),
}


def test_the_spec_itself_is_without_a_mistake() -> None:
    spec, said = load(BASE)
    assert spec is not None and said == []


@pytest.mark.parametrize("group", GROUPS)
def test_what_is_said(group: str, golden: Callable[..., None]) -> None:
    golden("\n".join(story(edits) for edits in GROUPS[group]))


@pytest.mark.parametrize("edits", [edits for group in GROUPS.values() for edits in group], ids=str)
def test_no_place_is_spoken_of_twice(edits: tuple[Edit, ...]) -> None:
    spec, said = load(edited(*edits))
    places = [line.partition("'")[0] for line in said]
    assert spec is None and places and len(set(places)) == len(places)


def story(edits: tuple[Edit, ...]) -> str:
    """Give an edit and what is said about the spec after it."""
    spec, said = load(edited(*edits))
    assert spec is None
    changes = [f"- {old}\n+ {new}\n" for old, new in edits]
    return "".join([*changes, *(f"{line}\n" for line in said)])
