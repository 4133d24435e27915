"""Every kernel of `cases/`: what is printed, that it compiles without spills, and that its manifest is
whole.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.emit.kernels import NAMES, cuda, document_of, program_of
from tsc.artifact.elf import read_cubin
from tsc.artifact.manifest import manifest_of
from tsc.emit import manifest
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
    "name", ["groups", "major", "multicast", "proxies", "replicas", "rounds", "tiles", "varlen"]
)
def test_the_text(name: str, golden: Callable[..., None]) -> None:
    golden(cuda(document_of(name), headers=False), ".cu")


@pytest.mark.parametrize("name", ["multicast", "pingpong"])
def test_the_same_input_gives_the_same_bytes(name: str) -> None:
    assert cuda(document_of(name)) == cuda(document_of(name))


def test_the_other_target_compiles() -> None:
    document = document_of("budgets")
    from tsc.emit import emit

    text = emit(program_of(document), arch="sm_100a", document=document)
    assert compile_source(text, {}, "sm_100a").diagnostics == ()
    assert '"arch": "sm_100a"' in text
