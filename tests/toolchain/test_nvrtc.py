"""NVRTC itself: what goes in, what comes out, and that nothing else decides it."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from tsc.artifact.elf import read_cubin
from tsc.toolchain import nvrtc
from tsc.toolchain.errors import NvrtcMissing, ToolchainError, UnsupportedArch
from tsc.toolchain.nvrtc import CompileOptions, Rejected, check_arch, compile_cuda, supported_archs

SOURCE = """#include "parts/twice.cuh"
extern "C" __global__ void k(int *p) {
#line 42 "specs/copy.tsc.yaml"
    p[0] = twice(p[1]);
#line 5 "kernel.cu"
    p[2] = 3;
}
"""
HEADERS = {"parts/twice.cuh": "__device__ __noinline__ int twice(int x) { return x * 2 + 1; }\n"}


def test_one_compile_gives_ptx_and_cubin() -> None:
    made = compile_cuda(SOURCE, arch="sm_90a", headers=HEADERS)
    assert read_cubin(made.cubin).kernels == ("k",)
    assert ".target sm_90a" in made.ptx and not made.ptx.endswith("\0")
    assert "Used " in made.log
    assert re.fullmatch(r"\d+\.\d+", made.nvrtc_version)


@pytest.mark.parametrize("lineinfo", [False, True])
def test_the_working_directory_does_not_matter(
    lineinfo: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = CompileOptions(lineinfo=lineinfo)
    made = []
    for name in ("one", "another one"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        made.append(compile_cuda(SOURCE, arch="sm_90a", headers=HEADERS, options=options))
    assert made[0].cubin == made[1].cubin
    assert made[0].ptx == made[1].ptx
    assert str(tmp_path).encode() not in made[0].cubin
    assert ('"/tsc/specs/copy.tsc.yaml"' in made[0].ptx) is lineinfo


def test_the_root_of_names_can_be_chosen() -> None:
    options = CompileOptions(lineinfo=True, source_root="/src/me")
    assert (
        '"/src/me/specs/copy.tsc.yaml"'
        in compile_cuda(SOURCE, arch="sm_90a", headers=HEADERS, options=options).ptx
    )


@pytest.mark.parametrize(
    ("spelled", "meant"),
    [
        ("./a.yaml", "./a.yaml"),
        ("../up/a.yaml", "../up/a.yaml"),
        ("/abs/a b.yaml", "/abs/a b.yaml"),
        ("größe.yaml", "größe.yaml"),
        ("<stdin>", "<stdin>"),
        ('quo\\"te.yaml', 'quo"te.yaml'),
        ("back\\\\slash.yaml", "back\\slash.yaml"),
    ],
)
def test_the_log_has_names_as_they_were_given(spelled: str, meant: str) -> None:
    source = f'extern "C" __global__ void k(int *p) {{\n#line 7 "{spelled}"\n p[0] = missing;\n}}'
    with pytest.raises(Rejected) as error:
        compile_cuda(source, arch="sm_90a")
    assert error.value.log.startswith(f"{meant}(7): error: ")


def test_options_reach_the_compiler() -> None:
    source = 'extern "C" __global__ void k(float *p) { p[0] = p[1] / p[2]; }'
    exact = compile_cuda(source, arch="sm_90a").ptx
    fast = compile_cuda(source, arch="sm_90a", options=CompileOptions(fast_math=True)).ptx
    assert "div.rn.f32" in exact and "div.approx" in fast
    defined = CompileOptions(extra=("-DVALUE=17",))
    assert (
        "17"
        in compile_cuda(
            'extern "C" __global__ void k(int *p) { p[0] = VALUE; }', arch="sm_90a", options=defined
        ).ptx
    )


def test_the_language_is_cpp_20() -> None:
    source = "template <int N> concept Small = N < 4; static_assert(Small<3>);"
    compile_cuda(source + 'extern "C" __global__ void k(int *p) { p[0] = 1; }', arch="sm_90a")


def test_the_suffixes_are_those_that_nvrtc_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    known = supported_archs()
    assert {"sm_90", "sm_90a"} <= set(known)
    monkeypatch.setattr(nvrtc, "check_arch", lambda arch: None)
    for number in {re.sub(r"[a-z]$", "", arch) for arch in known}:
        for suffix in ("", "a", "f"):
            try:
                compile_cuda("", arch=number + suffix)
                works = True
            except (Rejected, ToolchainError):
                works = False
            assert works == (number + suffix in known), number + suffix


@pytest.mark.parametrize(
    ("arch", "start"),
    [
        ("sm_42", "does not compile for `sm_42`; it knows sm_"),
        ("sm_90f", "does not compile for `sm_90f`: `sm_90` has no such suffix; it knows sm_"),
        ("", "does not compile for ``; it knows sm_"),
    ],
)
def test_an_unknown_target_is_said_with_the_known_ones(arch: str, start: str) -> None:
    with pytest.raises(UnsupportedArch) as error:
        check_arch(arch)
    assert start in str(error.value)
    assert "sm_90a" in str(error.value)


def test_an_option_of_no_meaning_is_one_sentence() -> None:
    with pytest.raises(ToolchainError, match="unrecognized option --bogus found") as error:
        compile_cuda("", arch="sm_90a", options=CompileOptions(extra=("--bogus",)))
    assert "\n" not in str(error.value)


def test_a_nul_character_does_not_cut_the_source_off() -> None:
    with pytest.raises(ToolchainError, match="NUL character"):
        compile_cuda('extern "C" __global__ void k(int *p) { }\0 } error', arch="sm_90a")


def test_a_missing_binding_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> object:
        raise ModuleNotFoundError(f"No module named '{name}'")

    monkeypatch.setattr(importlib, "import_module", absent)
    nvrtc._nvrtc.cache_clear()
    with pytest.raises(NvrtcMissing, match="`pip install cuda-bindings nvidia-cuda-nvrtc`"):
        compile_cuda("", arch="sm_90a")
    nvrtc._nvrtc.cache_clear()


def test_a_missing_library_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def unfound() -> object:
        raise RuntimeError('Failure finding "libnvrtc.so.13"\nmany\nlines')

    monkeypatch.setattr(importlib, "import_module", lambda name: SimpleNamespace(nvrtcVersion=unfound))
    nvrtc._nvrtc.cache_clear()
    with pytest.raises(NvrtcMissing) as error:
        supported_archs()
    nvrtc._nvrtc.cache_clear()
    assert str(error.value) == (
        "NVRTC, the CUDA compiler, is not installed: `pip install cuda-bindings nvidia-cuda-nvrtc`"
    )
