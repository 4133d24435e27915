"""Commands that take one target of several: `--arch` names it; without, the command says which it took."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.cli.test_targets import SPEC as TWO
from tsc.artifact.elf import read_cubin
from tsc.artifact.manifest import manifest_of
from tsc.bench import run as racing
from tsc.cli.app import app
from tsc.runtime import driver
from tsc.tune import measure as measuring
from tsc.verify import supervise
from tsc.verify.results import Results

pytest.importorskip("cuda.bindings.nvrtc")

SPEC = (
    TWO.replace("let:", "constants: {MORE: 1}\nlet:").replace("COUNT)", "COUNT) * MORE")
    + """\
verify: {reference: {y: 0 * y}, cases: [{n: 100}]}
tune: {try: {MORE: [1, 2]}, cases: [{n: 100}]}
"""
)
FIRST = "tsc: `sm_90a` is taken, the first of `sm_90a` and `sm_100a`; `--arch` names another\n"
OF_GPU = "tsc: `sm_100a` is taken, the one for this GPU of `sm_90a` and `sm_100a`; `--arch` names another\n"


def ran(place: Path, command: str, *options: str) -> Result:
    path = place / "fill.tsc.yaml"
    path.write_text(SPEC, encoding="utf-8")
    return CliRunner().invoke(app, [command, str(path), *options])


def arch_of(image: bytes) -> str:
    return manifest_of(read_cubin(image)).arch


def gpu(monkeypatch: pytest.MonkeyPatch, major: int, minor: int) -> None:
    facts = {"COMPUTE_CAPABILITY_MAJOR": major, "COMPUTE_CAPABILITY_MINOR": minor}
    cuda = SimpleNamespace(
        current_device=lambda: None,
        device_fact=lambda device, name: facts[name],
        device_name=lambda device: "a GPU",
    )
    monkeypatch.setattr(driver, "connect", lambda: cuda)


@pytest.mark.parametrize(
    ("command", "of_90", "of_100"),
    [
        ("tree", "fill: sm_90a, 64 threads,", "fill: sm_100a, 128 threads,"),
        ("table", "fill: sm_90a, 64 threads,", "fill: sm_100a, 128 threads,"),
        ("emit", "put<3>(", "put<5>("),
        ("graph", "flowchart", "flowchart"),
    ],
)
def test_what_shows_a_spec_shows_its_first_target_and_says_so(
    tmp_path: Path, command: str, of_90: str, of_100: str
) -> None:
    first = ran(tmp_path, command)
    assert (first.exit_code, first.stderr) == (0, FIRST)
    assert of_90 in first.stdout
    for arch, shown in (("sm_90a", of_90), ("sm_100a", of_100)):
        named = ran(tmp_path, command, "--arch", arch)
        assert (named.exit_code, named.stderr) == (0, "")
        assert shown in named.stdout


def test_tiles_are_those_of_a_target() -> None:
    path = str(Path(__file__).parents[2] / "specs/blackwell/gemm_bf16.tsc.yaml")
    sizes = ["-D", "m=512", "-D", "n=512", "-D", "k=512"]
    done = CliRunner().invoke(app, ["tiles", path, *sizes])
    assert done.stderr.startswith("tsc: `sm_100a` is taken, the first of")
    assert CliRunner().invoke(app, ["tiles", path, *sizes, "--arch", "sm_103a"]).stderr == ""
    without = CliRunner().invoke(
        app, ["tiles", "--order", "linear", "--m", "2", "--n", "2", "--arch", "sm_90a"]
    )
    assert "`--arch` change a spec, and this call has none" in without.stderr


@pytest.mark.parametrize(
    ("options", "arch", "said"),
    [
        ((), "sm_100a", OF_GPU),
        (("--arch", "sm_90a"), "sm_90a", ""),
        (("--set", "target=sm_90a"), "sm_90a", ""),
    ],
)
def test_verify_takes_the_target_of_the_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: Sequence[str], arch: str, said: str
) -> None:
    archs = []

    def instead(cubin: Path, *more: Any, **named: Any) -> tuple[Results, int]:
        archs.append(arch_of(cubin.read_bytes()))
        return Results("fill", "fill.tsc.yaml", str(cubin), (), "a GPU"), 0

    gpu(monkeypatch, 10, 0)
    monkeypatch.setattr(supervise, "supervise", instead)
    assert ran(tmp_path, "verify", *options).stderr == said
    assert archs == [arch]


def test_verify_says_where_no_target_is_for_the_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu(monkeypatch, 12, 0)
    done = ran(tmp_path, "verify")
    assert (done.exit_code, done.stderr) == (
        3,
        "tsc: the spec is for `sm_90a` and `sm_100a`, and GPU 0 (a GPU) is `sm_120`; name a target for it "
        "with `--arch`\n",
    )


def test_what_verify_writes_is_of_the_first_target(tmp_path: Path) -> None:
    cubin = tmp_path / "k.cubin"
    assert ran(tmp_path, "verify", "--prepare", str(cubin)).stderr == FIRST
    assert arch_of(cubin.read_bytes()) == "sm_90a"
    assert ran(tmp_path, "verify", "--prepare", str(cubin), "--arch", "sm_100a").stderr == ""
    assert arch_of(cubin.read_bytes()) == "sm_100a"


def test_bench_takes_the_target_of_the_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archs = []

    def bench(path: Path, *more: Any) -> dict[str, Any]:
        archs.append(arch_of(path.read_bytes()))
        raise racing.BenchError("this is enough")

    gpu(monkeypatch, 10, 0)
    monkeypatch.setattr(racing, "bench", bench)
    assert ran(tmp_path, "bench").stderr == f"{OF_GPU}tsc: this is enough\n"
    assert ran(tmp_path, "bench", "--arch", "sm_90a").stderr == "tsc: this is enough\n"
    assert archs == ["sm_100a", "sm_90a"]


@pytest.mark.parametrize(
    ("options", "arch", "said"), [((), "sm_90a", FIRST), (("--arch", "sm_100a"), "sm_100a", "")]
)
def test_a_space_is_compiled_for_one_target(
    tmp_path: Path, options: Sequence[str], arch: str, said: str
) -> None:
    folder = tmp_path / "out"
    done = ran(tmp_path, "tune", "-j", "1", "--compile-only", "-o", str(folder), *options)
    assert done.exit_code == 0, done.output
    assert done.stderr.startswith(said) and done.stderr.count("is taken") == bool(said)
    assert {arch_of(path.read_bytes()) for path in (folder / "points").iterdir()} == {arch}


def test_a_space_is_compiled_for_the_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu(monkeypatch, 10, 0)
    monkeypatch.setattr(measuring, "measure", lambda *_: "measured")
    folder = tmp_path / "out"
    done = ran(tmp_path, "tune", "-j", "1", "-o", str(folder))
    assert done.exit_code == 0, done.output
    assert OF_GPU in done.stderr
    assert {arch_of(path.read_bytes()) for path in (folder / "points").iterdir()} == {"sm_100a"}
