"""Every kernel of `cases/`: what is printed, that it compiles without spills, and that its manifest is
whole.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.emit.kernels import NAMES, cuda, document_of, program_of
from tsc.artifact.elf import read_cubin
from tsc.artifact.manifest import manifest_of
from tsc.emit import emit, manifest
from tsc.emit.assemble import plan_kernel
from tsc.toolchain.build import compile_source

pytest.importorskip("cuda.bindings.nvrtc")


@pytest.mark.parametrize("name", NAMES)
def test_it_compiles_without_a_word(name: str) -> None:
    document = document_of(name)
    built = compile_source(cuda(document), {}, "sm_90a")
    assert built.diagnostics == ()
    assert (built.usage.spill_stores, built.usage.spill_loads, built.usage.stack_bytes) == (0, 0, 0)
    written = manifest(program_of(document), document=document)
    read = manifest_of(read_cubin(built.cubin))
    assert read.kernel == written["kernel"]
    assert [list(tensor_map.box) for tensor_map in read.tensor_maps] == [
        m["box"] for m in written["tensor_maps"]
    ]


@pytest.mark.parametrize(
    "name",
    [
        "counted",
        "fragments",
        "groups",
        "left_in_registers",
        "major",
        "matrices",
        "multicast",
        "overlay",
        "overlay_copies",
        "proxies",
        "replicas",
        "rounds",
        "tiles",
        "varlen",
    ],
)
def test_the_text(name: str, golden: Callable[..., None]) -> None:
    golden(cuda(document_of(name), headers=False), ".cu")


@pytest.mark.parametrize("name", ["multicast", "pingpong"])
def test_the_same_input_gives_the_same_bytes(name: str) -> None:
    assert cuda(document_of(name)) == cuda(document_of(name))


def test_the_other_target_compiles() -> None:
    document = document_of("budgets")
    text = emit(program_of(document), arch="sm_100a", document=document)
    assert compile_source(text, {}, "sm_100a").diagnostics == ()
    assert '"arch": "sm_100a"' in text


@pytest.mark.parametrize("name", ["fused", "groups", "pairs", "pingpong"])
def test_for_a_race_checker_every_thread_arrives(name: str) -> None:
    document = document_of(name)
    program = program_of(document)
    text = emit(program, document=document, sanitize=True)
    assert compile_source(text, {}, "sm_90a").diagnostics == ()
    assert "lane == 0) mbarrier_arrive" not in text and "__syncwarp();\n    if" not in text
    counts = {one.name: one.arrivals for one in plan_kernel(program, document=document).barriers}
    more = {one.name: one.arrivals for one in plan_kernel(program, document=document, sanitize=True).barriers}
    assert counts.keys() == more.keys()
    assert {more[key] // counts[key] for key in counts} <= {1, 16, 24, 32}
