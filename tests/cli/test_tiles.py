"""`tsc tiles` from outside: both of its forms, its three formats, and what it refuses."""

from __future__ import annotations

import json
import re
import resource
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.test_commands import tsc

GROUPED = ("--order", "group_major", "--group", "2", "--m", "4", "--n", "4", "--workers", "3")
MATRICES = """tsc: 1
kernel: matrices
target: sm_90a
constants: {BM: 128, BN: 256, BK: 64}
params:
  a: {dtype: bf16, shape: [m, k]}
  b: {dtype: bf16, shape: [n, k]}
  c: {dtype: f32, shape: [m, n]}
launch: {cluster: {m: 2}}
resources:
  tiles:
    kind: queue
    policy: POLICY
    axes: {m: "cdiv(m, BM)", n: "cdiv(n, BN)"}
    order: {kind: group_major, along: m, group: 8}
  ring:
    kind: smem
    stages: 3
    buffers: {a: {dtype: bf16, shape: [BM, BK]}, b: {dtype: bf16, shape: [BN, BK]}}
work:
  eat: {reads: [ring], writes: [c], cuda: "c(tile.m, tile.n) = ring.a(0, 0) + ring.b(0, 0);"}
tasks:
  load:
    warps: 1
    schedule:
      - work_tile_loop: tiles
        body:
          - domain_loop: cdiv(k, BK)
            body:
              - {acquire: ring}
              - {tma_load: a, at: [tile.m * BM, loop * BK], to: ring.a}
              - {tma_load: b, at: [tile.n * BN, loop * BK], to: ring.b}
              - {commit: ring}
  math:
    warps: 4
    schedule:
      - work_tile_loop: tiles
        body: [{domain_loop: "cdiv(k, BK)", body: [{wait: ring}, {do: eat}, {release: ring}]}]
"""


@pytest.fixture
def matrices(tmp_path: Path) -> str:
    path = tmp_path / "matrices.tsc.yaml"
    path.write_text(MATRICES.replace("POLICY", "static"), encoding="utf-8")
    return str(path)


def shown(*arguments: str) -> str:
    done = tsc("tiles", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_numbers_workers_and_waves_as_text(golden: Callable[..., None]) -> None:
    golden(shown(*GROUPED))


def test_as_json() -> None:
    found = json.loads(shown(*GROUPED, "--format", "json"))
    assert list(found) == ["order", "workers"]
    assert found["order"][:5] == [[0, 0], [1, 0], [0, 1], [1, 1], [0, 2]]
    assert found["workers"][0] == [[0, 0], [1, 1], [0, 3], [3, 0], [2, 2], [3, 3]]
    assert found["workers"][2] == [[0, 1], [1, 2], [2, 0], [3, 1], [2, 3]]
    assert sorted(found["order"]) == sorted(tile for own in found["workers"] for tile in own)


def test_the_serpentine_of_four() -> None:
    text = shown("--order", "serpentine", "--group", "2", "--m", "4", "--n", "4", "--workers", "4")
    rows = [list(map(int, line.split())) for line in text.split("\n")[4:8]]
    assert rows == [[0, 1, 14, 15], [2, 3, 12, 13], [4, 5, 10, 11], [6, 7, 8, 9]]
    kept = shown("--order", "serpentine", "--group", "2", "--m", "4", "--n", "4", "--keep-rows")
    assert [line.split() for line in kept.split("\n")[4:6]] == [
        ["0", "1", "12", "13"],
        ["2", "3", "14", "15"],
    ]


def test_ragged_clusters(golden: Callable[..., None]) -> None:
    arguments = ("--order", "hilbert", "--m", "5", "--n", "3", "--cluster-m", "2", "--workers", "2")
    golden(shown(*arguments))
    found = json.loads(shown(*arguments, "--format", "json"))
    assert sorted(found["order"]) == [[m, n] for m in range(5) for n in range(3)]
    assert found["order"][:4] == [[0, 0], [1, 0], [0, 1], [1, 1]]


def test_a_drawing_has_each_tile_once() -> None:
    drawn = ElementTree.fromstring(shown(*GROUPED, "--format", "svg"))
    space = "{http://www.w3.org/2000/svg}"
    assert len(drawn.findall(f"{space}rect")) == 16
    numbers = [it.text for it in drawn.findall(f"{space}text")][1:]
    assert sorted(int(it or "") for it in numbers) == list(range(16))
    assert len({it.get("fill") for it in drawn.findall(f"{space}rect")}) == 3


def test_a_spec_with_what_it_loads(matrices: str, golden: Callable[..., None]) -> None:
    golden(shown(matrices, "-D", "m=1000", "-D", "n=1024", "-D", "k=4096", "--sms", "8"))


def test_a_gpu_of_the_target_by_default(matrices: str) -> None:
    text = shown(matrices, "-D", "m=65536", "-D", "n=65536", "-D", "k=64")
    assert "66 clusters at a time (132 multiprocessors), policy `static`\n" in text
    dynamic = shown(
        matrices, "-D", "m=4096", "-D", "n=512", "-D", "k=64", "--set", "resources.tiles.policy=atomic"
    )
    assert "who takes which is decided at run time" in dynamic


def test_a_file_of_its_own(tmp_path: Path) -> None:
    target = tmp_path / "order.svg"
    assert shown(*GROUPED, "--format", "svg", "-o", str(target)) == ""
    assert target.read_text(encoding="utf-8").startswith("<svg ")


def test_no_tiles() -> None:
    assert (
        shown("--order", "linear", "--m", "0", "--n", "3")
        == "linear: later axes run faster: 0 x 3 tiles (m, n)\n1 worker\n"
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "give a spec, or `--order` with `--m` and `--n`"),
        (("--order", "hilbert", "--m", "4"), "`--order hilbert` needs `--n`, the tiles along `n`"),
        (
            ("--order", "serpentine", "--m", "4", "--n", "4"),
            "`--order serpentine` needs `--group`, the tiles of a group",
        ),
        (
            ("--order", "hilbert", "--group", "2", "--m", "4", "--n", "4"),
            "`--group` belongs to `group_major`",
        ),
        (
            ("--order", "linear", "--reverse", "k", "--m", "4", "--n", "4"),
            "`k` is no axis: the axes are `m` and `n`",
        ),
        (("--order", "linear", "--m", "70000", "--n", "70000"), "4,900,000,000 tiles are too many to list"),
        (
            ("--order", "linear", "--m", "4", "--n", "4", "-D", "m=4"),
            "`-D`, `--set` and `--arch` change a spec",
        ),
        (("SPEC", "--m", "4"), "`--m` goes without a spec"),
        (("SPEC", "-D", "m=4"), "the extent of `n` depends on `n`: give it with `-D n=...`"),
        (("specs/copy/grid_stride.tsc.yaml",), "has no queue"),
        (("nowhere.tsc.yaml",), "nowhere.tsc.yaml"),
    ],
)
def test_a_wrong_call_ends_with_a_sentence(arguments: tuple[str, ...], sentence: str, matrices: str) -> None:
    done = tsc("tiles", *(matrices if it == "SPEC" else it for it in arguments))
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert done.stderr.startswith("tsc: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("bad", [("--group", "0"), ("--m", "-1"), ("--workers", "0"), ("--order", "table")])
def test_options_out_of_range_are_calls_at_fault(bad: tuple[str, str]) -> None:
    done = tsc("tiles", *GROUPED, *bad)
    assert done.returncode == 2
    assert re.search(r"Invalid value for '--?\w+", done.stderr)
    assert "Value error" not in done.stderr


@pytest.mark.parametrize("order", ["linear", "group_major --group 8", "serpentine --group 8", "hilbert"])
@pytest.mark.parametrize("format", ["text", "json"])
def test_a_million_tiles_take_a_second(order: str, format: str) -> None:
    """In time of the processor: the machine of the tests has others beside."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    shown("--order", *order.split(), "--m", "1024", "--n", "1024", "--format", format)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # An unhurried machine needs less than half of this.
    assert after.ru_utime - before.ru_utime < 2.5
