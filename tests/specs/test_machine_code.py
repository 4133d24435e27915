"""Shipped products as machine code, for each of their targets: what a block of k and a tile consist of.

What is Blackwell's is compiled and looked at here, and has not been run on a GPU.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.codegen.machine_code import disassembled, loop_with, words
from tsc.check import Proof, check_file
from tsc.emit import emit
from tsc.toolchain.build import Built, compile_source
from tsc.toolchain.cache import default_cache
from tsc.toolchain.includes import with_nested

pytest.importorskip("cuda.bindings.nvrtc")

ROOT = Path(__file__).resolve().parents[2] / "specs"
LOCAL = {"LDL", "STL"}  # accesses to local memory


@dataclass(frozen=True)
class Code:
    """What a kernel consists of: `product` and `each` in a block of k, `loads` in the loop that loads, and
    `others` in all. Without a word there is none of it.
    """

    product: str
    each: int = 4  # 64 elements of k in steps of 16
    loads: int = 2
    block: tuple[tuple[str, int], ...] = ()
    others: tuple[tuple[str, int], ...] = ()


def tensor(
    product: str = "UTCHMMA",
    *,
    loads: int = 2,
    commits: int = 2,
    a_block: int = 1,
    columns: int = 8,
    scales: int = 0,
    clc: int = 0,
) -> Code:
    """A product in tensor memory: `commits` in all, of which so many `a_block`, and `columns` moves out."""
    return Code(
        product,
        loads=loads,
        block=(("UTCBAR", a_block), ("UTCCP", scales), ("LDTM", 0), ("UTMALDG", 0)),
        # Allocated, the permit given up, freed.
        others=(
            ("UTCATOMSWS", 3),
            ("UTCBAR", commits),
            ("LDTM", columns),
            ("UGETNEXTWORKID", clc),
            ("HGMMA", 0),
        ),
    )


CODE = {
    "blackwell/gemm_bf16": tensor(),
    "blackwell/gemm_bf16_persistent": tensor(loads=1, commits=3, a_block=2, clc=1),
    "blackwell/gemm_2cta": tensor(columns=4, clc=1),
    "blackwell/gemm_nvfp4": tensor("UTCOMMA", loads=4, columns=4, scales=8),
    "blackwell/gemm_nvfp4_2cta": tensor("UTCOMMA", loads=4, columns=2, scales=12, clc=1),
    "blackwell/gemm_splitk": tensor(columns=4),
    **{
        f"gemm/hopper_{name}": Code("HGMMA", others=(("UTCHMMA", 0), ("LDTM", 0)))
        for name in (
            "batched",
            "bf16",
            "bf16_simple",
            "bias_gelu",
            "splitk",
            "splitk_cluster",
            "splitk_reduce",
        )
    },
    "gemm/hopper_bf16_swapped": Code("HGMMA", loads=1),
    "gemm/hopper_bf16_pingpong": Code("HGMMA", each=8),  # two products of 64 rows
    "gemm/hopper_bf16_unaligned": Code("HGMMA", each=8),
    "gemm/hopper_fp8": Code("QGMMA"),
    "gemm/hopper_fp8_blockwise": Code("QGMMA", loads=3),
}
SPECS = sorted(
    path.relative_to(ROOT).as_posix().removesuffix(".tsc.yaml")
    for folder in ("blackwell", "gemm")
    for path in (ROOT / folder).glob("*.tsc.yaml")
)


@cache
def built(spec: str) -> dict[str, Built]:
    """What the compiler makes of a spec, a target each."""
    path = ROOT / f"{spec}.tsc.yaml"
    report = check_file(str(path), proof=Proof(wanted=False))
    made = {}
    for program in report.programs:
        headers = with_nested(program.includes, path.parent)
        text = emit(program, document=report.document)
        made[program.arch] = compile_source(text, headers, program.arch, cache=default_cache())
    return made


def targets(spec: str) -> list[str]:
    """Blackwell's specs are for both of its targets."""
    return ["sm_100a", "sm_103a"] if spec.startswith("blackwell/") else ["sm_90a"]


CASES = [(spec, arch) for spec in SPECS for arch in targets(spec)]


@pytest.mark.parametrize("spec", SPECS)
def test_it_is_built_for_its_targets_without_spills(spec: str) -> None:
    made = built(spec)
    assert sorted(made) == targets(spec)
    for one in made.values():
        assert (one.usage.spill_stores, one.usage.spill_loads) == (0, 0)


@pytest.mark.parametrize(("spec", "arch"), CASES)
def test_no_local_memory(spec: str, arch: str, tmp_path: Path) -> None:
    assert not LOCAL & set(words(disassembled(built(spec)[arch].cubin, tmp_path)))


@pytest.mark.parametrize(("spec", "arch"), [case for case in CASES if case[0] in CODE])
def test_a_block_of_k(spec: str, arch: str, tmp_path: Path) -> None:
    wanted = CODE[spec]
    text = disassembled(built(spec)[arch].cubin, tmp_path)
    loop = Counter(loop_with(wanted.product, text))
    counts = {wanted.product: wanted.each, **dict(wanted.block)}
    assert {word: loop[word] for word in counts} == counts
    # One wait for a full stage; on Hopper also the attempt at the next one and the arrival.
    assert loop["SYNCS"] >= 1
    if arch == "sm_90a":
        # Addresses of the descriptors are uniform already.
        assert loop["R2UR"] == 0
    assert Counter(loop_with("UTMALDG", text))["UTMALDG"] == wanted.loads
    found = Counter(words(text))
    assert {word: found[word] for word, _ in wanted.others} == dict(wanted.others)


def test_all_products_are_looked_at() -> None:
    assert sorted(CODE) == [spec for spec in SPECS if spec != "blackwell/copy_clc"]


@pytest.mark.parametrize("arch", targets("blackwell/copy_clc"))
def test_tiles_of_the_hardware(arch: str, tmp_path: Path) -> None:
    made = built("blackwell/copy_clc")[arch]
    found = Counter(words(disassembled(made.cubin, tmp_path)))
    assert (found["UGETNEXTWORKID"], found["UTMALDG"], found["UTMASTG"]) == (1, 1, 1)
    assert "clusterlaunchcontrol.try_cancel.async" in made.ptx
    assert ".multicast::cluster::all" in made.ptx
