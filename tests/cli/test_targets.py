"""A spec for several targets: `arch` in it, what the check says of each, and what a build writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tsc.artifact.elf import read_cubin
from tsc.artifact.manifest import manifest_of
from tsc.cli.app import app

pytest.importorskip("cuda.bindings.nvrtc")

SPEC = """\
tsc: 1
kernel: fill
target: [sm_90a, sm_100a]
params:
  y: {dtype: f32, shape: [n]}
let: {COUNT: 4 if arch >= 100 else 2}
launch: {grid: ["cdiv(n, 32 * COUNT)"]}
resources: {}
work:
  put:
    writes: [y]
    args: {value: const}
    cuda: |
      const int i = blockIdx.x * task.threads + task.thread;
      if (i < n) y(i) = value;
tasks:
  fill:
    warps: COUNT
    schedule:
      - if: arch == 90
        then: [{do: put, with: {value: 3}}]
        else: [{do: put, with: {value: 5}}]
"""


def tsc(place: Path, text: str, command: str, *options: str) -> Result:
    path = place / "fill.tsc.yaml"
    path.write_text(text, encoding="utf-8")
    return CliRunner().invoke(app, [command, str(path), *options])


def built(path: Path) -> tuple[str, int, dict[str, object]]:
    manifest = manifest_of(read_cubin(path.read_bytes()))
    return manifest.arch, manifest.block[0], dict(manifest.constants)


def test_a_folder_has_a_cubin_for_each_target(tmp_path: Path) -> None:
    done = tsc(tmp_path, SPEC, "build", "-o", str(tmp_path / "out"))
    assert done.exit_code == 0, done.output
    found = sorted((tmp_path / "out").iterdir())
    assert [path.name for path in found] == ["fill.sm_100a.cubin", "fill.sm_90a.cubin"]
    assert [built(path) for path in found] == [("sm_100a", 128, {"arch": 100}), ("sm_90a", 64, {"arch": 90})]
    assert "fill for sm_90a" in done.output
    assert "fill for sm_100a" in done.output


def test_targets_of_the_call_are_in_place_of_the_specs(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = tsc(tmp_path, SPEC, "build", "--arch", "sm_90a", "--arch", "sm_103a", "-o", str(out))
    assert done.exit_code == 0, done.output
    assert [path.name for path in sorted(out.iterdir())] == ["fill.sm_103a.cubin", "fill.sm_90a.cubin"]
    assert built(out / "fill.sm_103a.cubin")[2] == {"arch": 103}
    single = tmp_path / "one.cubin"
    assert tsc(tmp_path, SPEC, "build", "--arch", "sm_100a", "-o", str(single)).exit_code == 0
    assert built(single) == ("sm_100a", 128, {"arch": 100})


def test_every_kind_is_there_for_each_target(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = tsc(tmp_path, SPEC, "build", "--emit", "cu,ptx", "-o", str(out))
    assert done.exit_code == 0, done.output
    names = ["fill.sm_100a.cu", "fill.sm_100a.ptx", "fill.sm_90a.cu", "fill.sm_90a.ptx"]
    assert [path.name for path in sorted(out.iterdir())] == names
    assert "put<5>(" in (out / "fill.sm_100a.cu").read_text(encoding="utf-8")
    assert ".target sm_90a" in (out / "fill.sm_90a.ptx").read_text(encoding="utf-8")


@pytest.mark.parametrize("output", ["k.cubin", "k.fatbin", "-"])
def test_one_file_is_too_few(tmp_path: Path, output: str) -> None:
    done = tsc(tmp_path, SPEC, "build", "-o", output if output == "-" else str(tmp_path / output))
    assert done.exit_code == 2
    assert "is one file, and the spec is built for sm_90a, sm_100a; name a folder with `-o`" in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["fill.tsc.yaml"]


def test_each_target_is_proved(tmp_path: Path) -> None:
    done = tsc(tmp_path, SPEC, "check")
    assert "fill.tsc.yaml: proved for every size and trip count on sm_90a (1 state)" in done.output
    assert "fill.tsc.yaml: proved for every size and trip count on sm_100a (1 state)" in done.output
    alike = SPEC.replace("arch == 90", "COUNT == 2").replace("4 if arch >= 100 else 2", "2")
    assert tsc(tmp_path, alike, "check").output.count("proved for every") == 1


def test_what_is_wrong_on_one_target_names_it(tmp_path: Path) -> None:
    text = SPEC.replace("resources: {}", "resources: {ring: {kind: smem, dtype: f32, shape: [32, SIZE]}}")
    text = text.replace("let: {", "let: {SIZE: 4096 if arch >= 100 else 64, ").replace("[y]", "[y, ring]")
    done = tsc(tmp_path, text, "check")
    assert done.exit_code == 1
    assert "needs 524,288 of 232,448 bytes of shared memory" in done.output
    assert ", on `sm_100a`" in done.output
    assert done.output.count("too-much-shared-memory") == 1
    both = text.replace("4096 if arch >= 100 else 64", "4096")
    assert ", on `sm_" not in tsc(tmp_path, both, "check").output


def test_what_one_target_does_not_use_is_used(tmp_path: Path) -> None:
    text = SPEC.replace("let: {", "constants: {OLD: 3}\nlet: {").replace("value: 3", "value: OLD")
    assert "unused" not in tsc(tmp_path, text, "check").output


def test_a_name_arch_is_taken(tmp_path: Path) -> None:
    done = tsc(tmp_path, SPEC.replace("let: {COUNT", "let: {arch: 3, COUNT"), "check")
    assert done.exit_code == 1
    assert "`arch` is reserved (the target's number)" in done.output


def test_an_unknown_target_of_several_is_at_its_place(tmp_path: Path) -> None:
    done = tsc(tmp_path, SPEC.replace("sm_100a]", "sm_110]"), "check", "--format", "concise")
    assert "fill.tsc.yaml:3:18" in done.output
    assert "`sm_110` is no architecture that tsc knows" in done.output


@pytest.mark.parametrize("number", [90, 100])
def test_what_the_compiler_says_of_one_target_names_it(tmp_path: Path, number: int) -> None:
    only = f"#if __CUDA_ARCH__ == {number * 10}\n      y(i) = nowhere;\n      #endif\n      if (i < n)"
    out = tmp_path / "out"
    done = tsc(tmp_path, SPEC.replace("if (i < n)", only), "build", "-o", str(out))
    assert done.exit_code == 1
    assert f"`nowhere` is undefined, on `sm_{number}a`" in done.output
    assert not out.exists()
    single = tsc(tmp_path, SPEC.replace("if (i < n)", only), "build", "--arch", f"sm_{number}a")
    assert single.exit_code == 1
    assert "`nowhere` is undefined\n" in single.output


def test_a_warning_of_the_compiler_names_its_target(tmp_path: Path) -> None:
    only = "#if __CUDA_ARCH__ == 1000\n      int idle;\n      #endif\n      if (i < n)"
    done = tsc(tmp_path, SPEC.replace("if (i < n)", only), "build", "-v", "-o", str(tmp_path / "out"))
    assert done.exit_code == 0, done.output
    assert "never referenced, on `sm_100a`" in done.output
    assert done.output.count("on `sm_90a`") == 1
