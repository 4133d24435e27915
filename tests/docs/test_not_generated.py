"""The table of what is not generated yet: each row is refused, and what has a dagger has a row."""

from __future__ import annotations

import pytest

from tests.docs.pages import CODE, page, table
from tests.emit.test_pairs import PAIR
from tsc.check import check_reading
from tsc.emit.generated import not_generated
from tsc.ops.registry import OPERATIONS
from tsc.source import parse
from tsc.spec.overrides import parse_overrides

PAGE = "language.md"
ROWS = [row[0] for row in table(PAGE, "not generated").rows]

BASE = """\
tsc: 1
kernel: base
target: TARGET
params:
  x: {dtype: bf16, shape: [m, n]}
  y: {dtype: bf16, shape: [m, n]}
  columns: {dtype: bf16, shape: [m, n], major: 0}
  small: {dtype: e2m1, shape: [m, n]}
  counts: {dtype: i32, shape: [m]}
LAUNCH
resources:
  tiles: {kind: queue, policy: static, axes: {m: m}}
  ring: {kind: smem, stages: 4, dtype: bf16, shape: [64, 64] MORE_OF_RING}
  other: {kind: smem, stages: 4, dtype: bf16, shape: [64, 64]}
  v: {kind: registers, dtype: bf16, per_thread: 8}
RESOURCES
work:
  nothing: {aux: true, cuda: ''}
WORK
tasks:
  store:
    warps: 4
    schedule:
      - work_tile_loop: tiles
        body:
STORE
  load:
    warps: 1
    schedule:
      - work_tile_loop: tiles
        body:
LOAD
DEBUG
"""
TAKEN = ["{wait: ring}", "{tma_store: y, at: [tile.m, 0], from: ring}", "{store_wait: 0}", "{release: ring}"]
GIVEN = ["{acquire: ring}", "{tma_load: x, at: [tile.m, 0], to: ring}", "{commit: ring}"]
FRAGMENT = "  f: {kind: registers, dtype: f32, shape: [64, 64]}"
SCORES = "  s: {kind: tmem, dtype: f32, shape: [128, 64]}"


def spec(
    *, store: list[str] | None = None, load: list[str] | None = None, target: str = "sm_90a", **parts: str
) -> str:
    """The base with steps of its two tasks, and text at the other places."""
    text = BASE.replace("TARGET", target)
    for place, steps in (("STORE", store or TAKEN), ("LOAD", load or GIVEN)):
        text = text.replace(place, "\n".join(f"          - {step}" for step in steps))
    for place in ("LAUNCH", "MORE_OF_RING", "RESOURCES", "WORK", "DEBUG"):
        text = text.replace(place, parts.get(place.lower(), ""))
    return text


def operation(step: str, resources: str = FRAGMENT, target: str = "sm_90a") -> list[str]:
    """A step of the storing task, in its bracket."""
    return [spec(store=[TAKEN[0], step, *TAKEN[1:]], resources=resources, target=target)]


SCALED = """\
tsc: 1
kernel: scaled
target: sm_100a
launch: {grid: [1]}
resources:
  ab:
    kind: smem
    stages: 2
    buffers: {a: {dtype: e4m3, shape: [128, 128]}, b: {dtype: e4m3, shape: [128, 128]}}
  held: {kind: tmem, dtype: e4m3, shape: [128, 128]}
  scales: {kind: tmem, dtype: u8, shape: [32, 16]}
  acc: {kind: tmem, stages: 1, dtype: f32, shape: [128, 128]}
tasks:
  store: {warps: 4, schedule: [{wait: acc}, {release: acc}]}
  load: {warps: 1, schedule: [{acquire: ab}, {commit: ab}]}
  mma:
    {warps: 1, schedule: [{acquire: acc}, {wait: ab},
     {tcgen05_mma: acc, a: ab.a, b: ab.b, scale_a: scales, scale_b: scales},
     {release: ab}, {commit: acc}]}
"""

HELD = """\
tsc: 1
kernel: held
target: sm_100a
launch: {grid: [1]}
resources:
  b: {kind: smem, stages: 2, dtype: bf16, shape: [64, 64]}
  p: {kind: tmem, stages: 1, dtype: bf16, shape: [64, 64]}
  rp: {kind: registers, dtype: bf16, shape: [64, 64]}
  acc: {kind: tmem, stages: 1, dtype: f32, shape: [64, 64]}
tasks:
  store: {warps: 4, schedule: [{acquire: p}, {commit: p}, {wait: acc}, {release: acc}]}
  load: {warps: 1, schedule: [{acquire: b}, {commit: b}]}
  mma:
    {warps: 1, schedule: [{acquire: acc}, {wait: p}, {wait: b},
     {tcgen05_mma: acc, a: p, b: b, accumulate: false}, {release: p}, {release: b}, {commit: acc}]}
"""

CASES = {
    "loads for a pair in other blocks than their `acquire` and `commit`": [
        PAIR.replace("- commit: ab", "- {when: k > 64, then: [{commit: ab}]}"),
    ],
    "`cp_async` where the last dimension is not contiguous": [
        spec(load=["{acquire: ring}", "{cp_async: columns, to: ring}", "{commit: ring}"])
    ],
    "`.T` in `load` and `store`": operation("{load: v, from: ring.T}"),
    "`rows` of a `tma_store` whose rows are no multiple of 128 bytes apart": [
        spec(
            store=[TAKEN[0], "{tma_store: y, at: [tile.m, 0], from: ring, rows: m - tile.m}", *TAKEN[2:]]
        ).replace("[64, 64]", "[64, 32]")
    ],
    "scale factors where `a` lies in tensor memory": [
        SCALED.replace("a: ab.a, b: ab.b, scale", "a: held, b: ab.b, scale")
    ],
    "scale factors for operands with `.T`": [SCALED.replace("b: ab.b, scale", "b: ab.b.T, scale")],
    "`a` of 64 rows in tensor memory": [HELD],
    "`tcgen05_ld` and `tcgen05_st` of 64 rows of 16 bits": [
        HELD.replace("[{acquire: p}, ", "[{acquire: p}, {zero: rp}, {tcgen05_st: p, from: rp}, ")
    ],
    "`trace`": [spec(debug="debug: {trace: [wait]}")],
    "`count_tiles`": [spec(debug="debug: {count_tiles: true}")],
}  # fmt: skip


def refusals(text: str) -> list[str]:
    report = check_reading(parse(text, "page.tsc.yaml", "yaml"), parse_overrides((), ()))
    assert report.program is not None, [it.message for it in report.found]
    return [sentence for _, sentence in not_generated(report.program)]


def test_the_base_is_generated() -> None:
    assert refusals(spec()) == []


def test_every_row_has_a_case_and_every_case_a_row() -> None:
    assert list(CASES) == ROWS


@pytest.mark.parametrize("row", CASES)
def test_a_row_is_refused(row: str) -> None:
    for text in CASES[row]:
        assert any("generated" in sentence for sentence in refusals(text)), text


def test_operations_that_are_not_generated_have_a_row() -> None:
    assert {f"`{it.verb}`" for it in OPERATIONS if not it.generated} <= set(ROWS)


def test_what_has_a_dagger_in_a_table_of_keys_has_a_row() -> None:
    keys = {
        key
        for line in page(PAGE).partition("## 15.")[0].splitlines()
        if line.startswith("|")
        for key in CODE.findall(line.split("|")[1])
        if "†" in line.split("|")[1]
    }
    words = " ".join(ROWS)
    inner = {"of", "stage", "producer", "consumer", "split", "expect"}  # of a key that has a row
    missing = {key for key in keys if key.partition(":")[0] not in words} - inner
    assert missing <= {"f"}, missing
