"""The whole way from a source to a cubin: what decides the bytes, and what the cache may answer."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tsc.artifact.elf import read_cubin
from tsc.toolchain import build as build_module
from tsc.toolchain.build import compile_source
from tsc.toolchain.cache import Cache
from tsc.toolchain.diagnose import SpecText
from tsc.toolchain.errors import CompileFailed, UnsupportedArch
from tsc.toolchain.nvrtc import CompileOptions

SOURCE = """#include "one.cuh"
extern "C" __global__ void k(int *p) {
#line 3 "k.yaml"
    int unused;
    p[0] = one();
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
}
"""
HEADERS = {"one.cuh": "__device__ int one() { return 1; }\n"}
SPEC = SpecText("k.yaml", "kernel: k\ncode: |\n  int unused;\n  p[0] = one();\n")


def test_a_second_build_comes_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path)
    first = compile_source(SOURCE, HEADERS, "sm_90a", spec=SPEC, cache=cache)
    assert read_cubin(first.cubin).arch == "sm_90a"
    assert first.usage.registers > 0
    assert [one.code for one in first.diagnostics] == ["TSC505", "TSC502"]

    def never(*arguments: object, **options: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(build_module, "compile_cuda", never)
    second = compile_source(SOURCE, HEADERS, "sm_90a", spec=SPEC, cache=cache)
    assert (first.cached, second.cached) == (False, True)
    assert replace(second, seconds=first.seconds, cached=False) == first


@pytest.mark.parametrize(
    "change",
    [
        {"source": SOURCE + " "},
        {"headers": {"one.cuh": "__device__ int one() { return 2; }\n"}},
        {"arch": "sm_100a"},
        {"options": CompileOptions(lineinfo=True)},
        {"options": CompileOptions(extra=("-DX",))},
        {"options": CompileOptions(source_root="/elsewhere")},
    ],
)
def test_whatever_decides_the_bytes_is_in_the_key(tmp_path: Path, change: dict[str, object]) -> None:
    cache = Cache(tmp_path)
    call: dict[str, object] = {"source": SOURCE, "headers": HEADERS, "arch": "sm_90a"}
    compile_source(**call, spec=SPEC, cache=cache)  # type: ignore[arg-type]
    assert not compile_source(**{**call, **change}, spec=SPEC, cache=cache).cached  # type: ignore[arg-type]


@pytest.mark.parametrize("fact", ["nvrtc_version", "nvrtc_identity", "VERSION"])
def test_other_tools_are_in_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fact: str) -> None:
    cache = Cache(tmp_path)
    compile_source(SOURCE, HEADERS, "sm_90a", spec=SPEC, cache=cache)
    monkeypatch.setattr(build_module, fact, {"VERSION": "9.9"}.get(fact, lambda: ("99",)))
    assert not compile_source(SOURCE, HEADERS, "sm_90a", spec=SPEC, cache=cache).cached


def test_the_specs_text_moves_diagnostics_and_not_the_cubin(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    compile_source(SOURCE, HEADERS, "sm_90a", spec=SPEC, cache=cache)
    moved = replace(SPEC, text=SPEC.text.replace("  int", "      int"))
    again = compile_source(SOURCE, HEADERS, "sm_90a", spec=moved, cache=cache)
    assert again.cached
    assert [one.span.start.column for one in again.diagnostics if one.code == "TSC502"] == [11]


def test_a_damaged_entry_is_compiled_again(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    first = compile_source(SOURCE, HEADERS, "sm_90a", spec=SPEC, cache=cache)
    (entry,) = tmp_path.iterdir()
    entry.write_bytes(entry.read_bytes()[:-100])
    again = compile_source(SOURCE, HEADERS, "sm_90a", spec=SPEC, cache=cache)
    assert not again.cached and again.cubin == first.cubin
    assert compile_source(SOURCE, HEADERS, "sm_90a", spec=SPEC, cache=cache).cached


def test_an_unusable_cache_builds_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    built = compile_source(SOURCE, HEADERS, "sm_90a", spec=SPEC, cache=Cache(tmp_path / "file"))
    assert built.cubin == compile_source(SOURCE, HEADERS, "sm_90a", spec=SPEC).cubin


def test_a_failed_compile_is_not_kept(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(CompileFailed):
            compile_source("error", {}, "sm_90a", cache=Cache(tmp_path))
    assert not tmp_path.exists() or list(tmp_path.iterdir()) == []


def test_an_unknown_target_is_refused_before_the_compile() -> None:
    with pytest.raises(UnsupportedArch, match="sm_77"):
        compile_source("error", {}, "sm_77")


WORKER = """
import sys
from pathlib import Path
from tsc.toolchain.build import compile_source
from tsc.toolchain.cache import Cache
from tsc.toolchain.write import write_file
folder = Path(sys.argv[1])
for number in range(12):
    source = 'extern "C" __global__ void k(int *p) { p[0] = %d; }' % (number % 4)
    built = compile_source(source, {}, "sm_90a", cache=Cache(folder / "cache", limit=20_000))
    write_file(str(folder / "k.cubin"), built.cubin)
    assert (folder / "k.cubin").read_bytes().startswith(b"\\x7fELF")
print(built.cubin.hex())
"""


def test_processes_at_once_agree_and_leave_whole_files(tmp_path: Path) -> None:
    workers = [
        subprocess.Popen([sys.executable, "-c", WORKER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    results = [worker.communicate(timeout=60)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0, 0]
    assert len(set(results)) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "k.cubin"]
    assert all(path.suffix == ".tsc" for path in (tmp_path / "cache").iterdir())
    assert read_cubin((tmp_path / "k.cubin").read_bytes()).kernels == ("k",)
