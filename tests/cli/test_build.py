"""`tsc build` and what comes out of it, with the compiler and without a GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.modules import ROOT

SPEC = """\
tsc: 1
kernel: fill
target: sm_90a
params:
  y: {dtype: f32, shape: [n]}
launch: {grid: ["cdiv(n, 128)"]}
resources: {}
work:
  put_one:
    writes: [y]
    cuda: |
      const int i = blockIdx.x * 128 + task.thread;
      if (i < n) y(i) = 1.0f;
tasks:
  fill: {warps: 4, schedule: [{do: put_one}]}
"""


def tsc(
    *arguments: str, cwd: Path, text: bool = True, before: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    code = f"import sys\nsys.argv[1:] = {list(arguments)!r}\n{before}\nfrom tsc.cli import main\nmain()"
    env = os.environ | {"PYTHONPATH": str(ROOT), "NO_COLOR": "1", "TSC_CACHE_DIR": str(cwd / ".cache")}
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=cwd, env=env | environment, capture_output=True, text=text, check=False
    )


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != ".cache")


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "fill.tsc.yaml"
    path.write_text(SPEC, encoding="utf-8")
    return path


def test_cubin_is_written_and_described(spec: Path, tmp_path: Path) -> None:
    done = tsc("build", spec.name, "-o", "k.cubin", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    first, *rows = done.stdout.splitlines()
    assert first == "k.cubin: fill for sm_90a"
    assert [row.split("  ")[1] for row in rows] == ["registers", "spills", "shared memory", "barriers"]
    assert rows[2] == "  shared memory  0 B dynamic, 0 B static"
    facts = json.loads(tsc("inspect", "k.cubin", "--format", "json", cwd=tmp_path).stdout)
    wanted = {
        "kernel",
        "arch",
        "params",
        "block",
        "cluster",
        "smem_bytes",
        "grid",
        "spec_sha256",
        "tsc_version",
    }
    assert wanted <= facts.keys()
    assert (facts["kernel"], facts["arch"], facts["spec"]) == ("fill", "sm_90a", "fill.tsc.yaml")
    assert tsc("inspect", "k.cubin", cwd=tmp_path).stdout.startswith("kernel ")


def test_name_of_the_file_follows_the_kernel(spec: Path, tmp_path: Path) -> None:
    assert tsc("build", spec.name, cwd=tmp_path).returncode == 0
    assert files(tmp_path) == ["fill.cubin", "fill.tsc.yaml"]


def test_several_kinds_lie_side_by_side(spec: Path, tmp_path: Path) -> None:
    assert (
        tsc(
            "build", spec.name, "-o", "k.cubin", "--emit", "cu,ptx", "--emit", "cubin", cwd=tmp_path
        ).returncode
        == 0
    )
    assert files(tmp_path) == ["fill.tsc.yaml", "k.cu", "k.cubin", "k.ptx"]
    assert (tmp_path / "k.cubin").read_bytes().startswith(b"\x7fELF")
    assert ".visible .entry fill" in (tmp_path / "k.ptx").read_text(encoding="utf-8")
    assert (tmp_path / "k.cu").read_text(encoding="utf-8") == tsc("emit", spec.name, cwd=tmp_path).stdout


def test_standard_output_takes_the_cubin_alone(spec: Path, tmp_path: Path) -> None:
    done = tsc("build", "-", "-o", "-", cwd=tmp_path, text=False, before=_stdin(spec))
    assert done.returncode == 0
    assert done.stdout.startswith(b"\x7fELF")
    assert done.stderr.startswith(b"standard output: fill for sm_90a\n")
    assert files(tmp_path) == ["fill.tsc.yaml"]


def _stdin(spec: Path) -> str:
    return f"sys.stdin = open({str(spec)!r}, encoding='utf-8')"


def test_same_input_gives_same_bytes_in_every_folder(spec: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        for extra in ([], ["--lineinfo"]):
            out = f"{len(extra)}.cubin"
            done = tsc("build", str(spec), "-o", out, "--no-cache", *extra, cwd=tmp_path / name)
            assert done.returncode == 0
    here = tsc("build", spec.name, "-o", "a/0b.cubin", "--no-cache", cwd=tmp_path)
    assert here.returncode == 0
    first = (tmp_path / "a" / "0.cubin").read_bytes()
    assert first == (tmp_path / "b" / "0.cubin").read_bytes() == (tmp_path / "a" / "0b.cubin").read_bytes()
    lined = (tmp_path / "a" / "1.cubin").read_bytes()
    assert lined == (tmp_path / "b" / "1.cubin").read_bytes() != first
    assert b"fill.tsc.yaml" in lined


def test_log_says_whether_it_was_compiled(spec: Path, tmp_path: Path) -> None:
    assert "compiled in " in tsc("build", spec.name, "-v", cwd=tmp_path).stderr
    again = tsc("build", spec.name, "-v", cwd=tmp_path)
    assert "found in the cache, NVRTC " in again.stderr
    assert "Compiling entry function 'fill'" in again.stderr
    assert "compiled in " in tsc("build", spec.name, "-v", "--no-cache", cwd=tmp_path).stderr


def test_another_target_is_built_and_checked(spec: Path, tmp_path: Path) -> None:
    done = tsc("build", spec.name, "--arch", "sm_100a", cwd=tmp_path)
    assert done.stdout.startswith("fill.cubin: fill for sm_100a\n")
    done = tsc("build", spec.name, "--arch", "sm_1", "-o", "other.cubin", cwd=tmp_path)
    assert done.returncode == 1
    assert "sm_1" in done.stderr
    assert files(tmp_path) == ["fill.cubin", "fill.tsc.yaml"]


def test_mistake_in_a_snippet_is_shown_in_the_spec(spec: Path, tmp_path: Path) -> None:
    spec.write_text(SPEC.replace("y(i) = 1.0f", "y(i) = one"), encoding="utf-8")
    done = tsc("build", str(spec), "-o", "k.cubin", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{spec}:13:" in done.stderr
    assert "`one`" in done.stderr
    assert files(tmp_path) == ["fill.tsc.yaml"]


def test_warning_of_the_compiler_can_be_ignored(spec: Path, tmp_path: Path) -> None:
    noisy = SPEC.replace("if (i < n)", "int unused = 3; if (i < n)")
    spec.write_text(noisy, encoding="utf-8")
    done = tsc("build", spec.name, cwd=tmp_path)
    assert done.returncode == 0
    assert "compiler-warning" in done.stderr
    spec.write_text("# tsc: ignore-file[compiler-warning]\n" + noisy, encoding="utf-8")
    assert tsc("build", spec.name, cwd=tmp_path).stderr == ""


def test_header_of_the_user_is_found_beside_the_spec(spec: Path, tmp_path: Path) -> None:
    spec.write_text(
        SPEC.replace("params:", "include: [lib/one.cuh]\nparams:").replace("1.0f", "one()"), encoding="utf-8"
    )
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "one.cuh").write_text(
        '#include "two.cuh"\n__device__ float one() { return half_of(two()); }\n'
    )
    (tmp_path / "lib" / "two.cuh").write_text(
        "__device__ float two() { return 2.0f; }\n__device__ float half_of(float x) { return x / 2; }\n"
    )
    (tmp_path / "elsewhere").mkdir()
    done = tsc("build", str(spec), cwd=tmp_path / "elsewhere")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--emit", "sass"], "`--emit sass` is none of cu, ptx, cubin"),
        (["--emit", "cu,ptx", "-o", "-"], "standard output takes one kind, and `--emit` names 2"),
        (
            ["-o", "no/such/k.cubin"],
            "`no/such/k.cubin` cannot be written: the folder `no/such` does not exist",
        ),
        (["-o", "."], "`.` cannot be written: it is a folder"),
    ],
)
def test_call_at_fault_exits_with_2(spec: Path, tmp_path: Path, arguments: list[str], sentence: str) -> None:
    done = tsc("build", spec.name, *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"tsc: {sentence}\n")
    assert files(tmp_path) == ["fill.tsc.yaml"]


def test_full_disk_leaves_what_was_there(spec: Path, tmp_path: Path) -> None:
    (tmp_path / "k.cubin").write_bytes(b"before")
    full = "import os\ndef fail(*_):\n    raise OSError(28, 'No space left on device')\nos.fsync = fail"
    done = tsc("build", spec.name, "-o", "k.cubin", cwd=tmp_path, before=full)
    assert (done.returncode, done.stderr) == (2, "tsc: `k.cubin` cannot be written: the disk is full\n")
    assert files(tmp_path) == ["fill.tsc.yaml", "k.cubin"]
    assert (tmp_path / "k.cubin").read_bytes() == b"before"


def test_missing_compiler_is_the_toolchain_at_fault(spec: Path, tmp_path: Path) -> None:
    missing = "sys.modules['cuda.bindings.nvrtc'] = None"
    done = tsc("build", spec.name, cwd=tmp_path, before=missing)
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert "cuda-bindings" in done.stderr
    assert files(tmp_path) == ["fill.tsc.yaml"]


def test_cuda_alone_needs_no_compiler(spec: Path, tmp_path: Path) -> None:
    done = tsc(
        "build", spec.name, "--emit", "cu", "-o", "k.cu", cwd=tmp_path, before="sys.modules['cuda'] = None"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert files(tmp_path) == ["fill.tsc.yaml", "k.cu"]


RACE = """
tsc: 1
kernel: fill
target: sm_90a
params: {y: {dtype: f32, shape: [128]}}
launch: {grid: [1]}
resources: {row: {kind: smem, dtype: f32, shape: [128]}}
work:
  write_row: {writes: [row], cuda: row(task.thread) = 1;}
  use_row: {reads: [row], writes: [y], cuda: y(task.thread) = row(task.thread);}
tasks:
  first: {warps: 4, schedule: [{do: write_row}]}
  second: {warps: 4, schedule: [{do: use_row}]}
"""


def test_what_is_not_proved_is_not_built(spec: Path, tmp_path: Path) -> None:
    spec.write_text(RACE, encoding="utf-8")
    done = tsc("build", spec.name, cwd=tmp_path)
    assert done.returncode == 1 and "TSC401[race]" in done.stderr
    assert files(tmp_path) == ["fill.tsc.yaml"]
    done = tsc("build", spec.name, "--no-check", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_open_proof_can_be_allowed(tmp_path: Path) -> None:
    spec = str(ROOT / "specs/copy/tma.tsc.yaml")
    done = tsc("build", spec, "--budget", "3", "-o", "out.cubin", cwd=tmp_path)
    assert done.returncode == 1 and "TSC345[unproven]" in done.stderr
    done = tsc("build", spec, "--budget", "3", "--allow-unproven", "-o", "out.cubin", cwd=tmp_path)
    assert done.returncode == 0 and "warning TSC345[unproven]" in done.stderr
    assert files(tmp_path) == ["out.cubin"]


def test_check_can_be_overruled(spec: Path, tmp_path: Path) -> None:
    spec.write_text(SPEC + "expect: {threads: 64}\n", encoding="utf-8")
    assert tsc("build", spec.name, cwd=tmp_path).returncode == 1
    assert files(tmp_path) == ["fill.tsc.yaml"]
    done = tsc("build", spec.name, "--no-check", cwd=tmp_path)
    assert done.returncode == 0
    assert "error TSC" in done.stderr
    assert files(tmp_path) == ["fill.cubin", "fill.tsc.yaml"]
