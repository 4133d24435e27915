"""Every barrier of every shipped kernel counts what the emitted code does: the text itself runs on the CPU,
with all threads of a cluster, and one arrival or one byte too many or too few in a barrier ends the run.

Each phase has to end with exactly the arrivals that the barrier was initialised with and the bytes that were
announced, nobody may wait without end, and nothing may be left over behind the last tile.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.codegen.headers import needs_cpp
from tests.emit.on_host import Ran, run_on_host
from tsc.check import Proof, check_file
from tsc.emit import emit, manifest
from tsc.spec.overrides import parse_overrides

ROOT = Path(__file__).resolve().parents[2] / "specs"
FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Sizes:
    """Sizes for a run with several tiles and more rounds than stages, and lists of numbers that it reads."""

    dims: dict[str, int]
    lists: dict[str, list[int]] = field(default_factory=dict)


COPY = Sizes({"m": 100, "n": 5000})
GEMM = Sizes({"m": 600, "n": 640, "k": 2048})
ROWS = Sizes({"rows": 40})
SIZES = {
    "copy/grid_stride": Sizes({"n": 5000, "m": 8}),
    "copy/groups": Sizes(
        {"groups": 3, "rows": 100, "n": 600}, {"offsets": [0, 40, 40, 100], "tiles_before": [0, 3, 3, 7]}
    ),
    "copy/pdl_chain_first": ROWS,
    "copy/pdl_chain_second": ROWS,
    "copy/skip_tiles": Sizes({"room": 200}, {"count": [120]}),
    "copy/varlen": Sizes({"seqs": 4, "total": 100}, {"offsets": [0, 40, 40, 57, 100]}),
    "norm/rmsnorm": ROWS,
    "norm/rmsnorm_persistent": ROWS,
    "gemm/hopper_batched": Sizes({"m": 300, "n": 300, "k": 800, "batch": 2}),
    "gemm/hopper_fp8_blockwise": Sizes({"m": 600, "n": 640, "k": 2048, "k_blocks": 16, "n_blocks": 5}),
}
SPECS = sorted(
    path.relative_to(ROOT).as_posix().removesuffix(".tsc.yaml") for path in ROOT.rglob("*.tsc.yaml")
)
# It has no mbarrier at all.
WITHOUT = {"copy/grid_stride"}


def sizes_of(spec: str) -> Sizes:
    return SIZES.get(spec, COPY if spec.startswith("copy/") or spec.endswith("copy_clc") else GEMM)


@cache
def generated(spec: str, settings: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    """The text and the manifest of a spec."""
    path = str(ROOT / f"{spec}.tsc.yaml")
    report = check_file(path, overrides=parse_overrides((), settings), proof=Proof(wanted=False))
    assert report.program is not None
    return (
        emit(report.program, document=report.document, line=False),
        manifest(report.program, document=report.document),
    )


def run(spec: str, folder: Path, *settings: str, change: tuple[str, str] | None = None) -> Ran:
    """Run a spec, maybe with one change of its text, which has to be there."""
    text, facts = generated(spec, settings)
    if change is not None:
        changed = re.sub(change[0], change[1], text, count=1)
        assert changed != text
        text = changed
    sizes = sizes_of(spec)
    return run_on_host(text, facts, sizes.dims, folder, lists=sizes.lists)


@needs_cpp
@pytest.mark.parametrize("spec", SPECS)
def test_arrivals_and_bytes_are_what_barriers_count(spec: str, tmp_path: Path) -> None:
    counts = run(spec, tmp_path).counts
    wanted = sum(one["count"] for one in generated(spec, ())[1]["barriers"])
    cluster = generated(spec, ())[1]["cluster"]
    assert counts["barriers"] == wanted * cluster[0] * cluster[1] * cluster[2]
    assert (counts["phases"] > 0) == (spec not in WITHOUT)
    assert counts["unused"] < max(1, counts["barriers"])


@needs_cpp
@pytest.mark.parametrize("policy", ["static", "atomic", "grid", "clc"])
@pytest.mark.parametrize(
    "spec", ["blackwell/gemm_bf16_persistent", "blackwell/gemm_2cta", "blackwell/gemm_nvfp4_2cta"]
)
def test_whoever_hands_out_the_tiles(spec: str, policy: str, tmp_path: Path) -> None:
    assert run(spec, tmp_path, f"resources.tiles.policy={policy}").counts["phases"] > 0


@needs_cpp
@pytest.mark.parametrize(
    ("spec", "settings"),
    [
        ("blackwell/gemm_2cta", ("constants.CN=2",)),
        ("blackwell/gemm_2cta", ("constants.CN=2", "resources.tiles.policy=static")),
        ("blackwell/gemm_nvfp4_2cta", ("constants.CN=2",)),
        ("blackwell/gemm_bf16_persistent", ("constants.CN=2",)),
        ("gemm/hopper_bf16", ("constants.CLUSTER_N=2",)),
    ],
    ids=str,
)
def test_larger_clusters(spec: str, settings: tuple[str, ...], tmp_path: Path) -> None:
    assert run(spec, tmp_path, *settings).counts["phases"] > 0


# Barriers that rings share, of clusters, of several who fill, that a leader or a proxy arrives at, at which
# threads of one CTA publish to another.
FORMS = (
    "cases/gathered",
    "cases/groups",
    "cases/lanes_cluster",
    "cases/led",
    "cases/mixed",
    "cases/multicast",
    "cases/observe",
    "cases/pairs",
    "tensor_cases/pair_cp_async",
    "tensor_cases/pair_work",
)


@needs_cpp
@pytest.mark.parametrize("case", FORMS)
def test_forms_of_rings(case: str, tmp_path: Path) -> None:
    report = check_file(str(FOLDER / f"{case}.tsc.yaml"), proof=Proof(wanted=False))
    program = report.program
    assert program is not None
    dims = {name: max(1, 256 // dim.multiple_of) * dim.multiple_of for name, dim in program.dims.items()}
    text = emit(program, document=report.document, line=False)
    ran = run_on_host(text, manifest(program, document=report.document), dims, tmp_path)
    assert ran.counts["phases"] > 0


CHANGES = {
    "a count too small": (
        r"(mbarrier_init\(shared \+ ACC_EMPTY \+ 8 \* i, )\d+",
        r"\g<1>3",
        "waits without end|more arrivals",
    ),
    "a count too large": (
        r"(mbarrier_init\(shared \+ ACC_EMPTY \+ 8 \* i, )\d+",
        r"\g<1>9",
        "waits without end",
    ),
    "too many bytes": (r"(mbarrier_arrive_expect\(ab_full .*, )\d+\)", r"\g<1>99999)", "waits without end"),
    "no commit": (r"tcgen05_commit(<2>)?\(ab_empty [^;]*;", ";", "waits without end"),
    "a commit twice": (
        r"(tcgen05_commit(<2>)?\(acc_full [^;]*;)",
        r"\1 \1",
        "more arrivals|waits without end",
    ),
    "a commit to one CTA": (r"(tcgen05_commit<2>\(ab_empty [^;]*), 3\)", r"\1)", "waits without end"),
}


@needs_cpp
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("spec", ["blackwell/gemm_bf16", "blackwell/gemm_2cta"])
def test_a_wrong_kernel_is_found(spec: str, change: str, tmp_path: Path) -> None:
    if change == "a commit to one CTA" and spec == "blackwell/gemm_bf16":
        pytest.skip("one CTA alone")
    pattern, text, fault = CHANGES[change]
    said = run(spec, tmp_path, change=(pattern, text)).text
    assert re.match(rf"fault: .*({fault})", said), said
