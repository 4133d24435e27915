"""docs/running.md, and the example that it shows: cuda-python alone, held by the bindings' own signatures."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

import tsc
from tests.docs.pages import ROOT, blocks, page
from tsc.artifact import model
from tsc.bench import run as bench_run
from tsc.expr import evaluate, parse
from tsc.runtime.kernel import Kernel
from tsc.tune import measure as tune_measure
from tsc.verify import run as verify_run

MEASURING = {"tsc.verify.run": verify_run, "tsc.bench.run": bench_run, "tsc.tune.measure": tune_measure}
"""Modules that are run by name, where there is no compiler."""

PAGE = "running.md"
EXAMPLE = ROOT / "examples" / "plain_cuda_python.py"
TEXT = page(PAGE)

# The example's own sizes, and the multiprocessors of the driver here.
SIZES = {"copy/bulk": {"n": 1_000_003, "sms": 132}, "copy/tma": {"m": 1_000, "n": 1_016, "sms": 132}}
SAYS = {
    "copy/bulk": "OK: bulk_copy copied 1,000,003 B\n",
    "copy/tma": "OK: tma_copy copied 2,032,000 B\n",
}


def command(*words: str) -> str:
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "tsc", *words], cwd=ROOT, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a `libcuda` that needs no GPU."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs a C compiler on Linux")
    folder = tmp_path_factory.mktemp("driver")
    source = Path(__file__).with_name("stub_driver.c")
    library = folder / "libcuda.so.1"
    subprocess.run(
        [compiler, "-std=c11", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, source, "-ldl"],
        check=True,
    )
    return folder


@pytest.mark.parametrize("spec", SIZES)
def test_the_example_launches_with_the_bindings_as_they_are(spec: str, driver: Path, tmp_path: Path) -> None:
    cubin, facts = tmp_path / "kernel.cubin", tmp_path / "facts.json"
    command("build", f"specs/{spec}.tsc.yaml", "-o", str(cubin))
    facts.write_text(command("inspect", str(cubin), "--format", "json"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), str(cubin), str(facts)],
        cwd=tmp_path,
        env=os.environ | {"LD_LIBRARY_PATH": str(driver)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, SAYS[spec]), done.stderr
    assert done.stderr.splitlines() == asked(json.loads(facts.read_text(encoding="utf-8")), SIZES[spec])


def asked(facts: dict[str, Any], sizes: dict[str, int]) -> list[str]:
    """What the driver has to be asked for a copy of these sizes."""
    grid = [evaluate(parse(extent), {**facts["constants"], **sizes}) for extent in facts["grid"]]
    found = [f"kernel {facts['kernel']}", f"attribute 8 = {facts['smem_bytes']}"]
    for described in facts["tensor_maps"]:
        rows, columns = described["box"]
        assert (described["swizzle"], described["l2"], described["fill"]) == (0, 128, "zero")
        found.append(
            f"map type 9, {sizes['n']} by {columns} (1), {sizes['m']} by {rows} (1), "
            f"pitch {2 * sizes['n']}, modes 0 0 2 0"
        )
    words = [" ".join(map(str, numbers)) for numbers in (grid, facts["block"])]
    last = facts["arguments"][2]
    assert last["kind"] == "value"
    found.append(
        f"grid {words[0]}, block {words[1]}, shared {facts['smem_bytes']}, attributes 0, "
        f"last {sizes[last['expr']]}"
    )
    return found


@pytest.mark.gpu
@pytest.mark.parametrize("spec", SIZES)
def test_the_example_copies_on_a_gpu(spec: str, tmp_path: Path) -> None:
    cubin = tmp_path / "kernel.cubin"
    command("build", f"specs/{spec}.tsc.yaml", "-o", str(cubin))
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), str(cubin)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, SAYS[spec]), done.stderr


def test_the_example_imports_the_bindings_and_nothing_else() -> None:
    tree = ast.parse(EXAMPLE.read_text(encoding="utf-8"))
    named = {
        name
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [str(node.module)]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    outside = {name for name in named if name.partition(".")[0] not in sys.stdlib_module_names}
    assert outside == {"cuda.bindings"}


def test_the_page_shows_what_the_example_says() -> None:
    assert f"`{SAYS['copy/tma'].strip()}`" in TEXT


def test_every_block_of_python_reads() -> None:
    found = blocks(PAGE, "python")
    assert len(found) == 4
    for block in found:
        compile(block.text, PAGE, "exec")


def test_every_command_of_a_shell_exists() -> None:
    *others, plain = blocks(PAGE, "sh")
    words = [line.split() for line in plain.text.splitlines()]
    assert [line[:2] for line in words if line[0] == "tsc"] == [["tsc", "build"], ["tsc", "inspect"]]
    assert all((ROOT / word).is_file() for line in words for word in line if "/" in word)
    calls = [line.partition("  #")[0].split() for block in others for line in block.text.splitlines()]
    assert ["tsc", "verify", "SPEC"] in calls
    for call in calls:
        assert call[0] in ("tsc", "python"), call
        help = command(call[1], "--help") if call[0] == "tsc" else MEASURING[call[2]].options().format_help()
        assert [word for word in call if word.startswith("-") and word != "-m" and word not in help] == []


def test_the_methods_of_a_kernel_are_shown() -> None:
    public = {name for name in vars(Kernel) if not name.startswith("_")}
    shown = set(re.findall(r"^copy\.(\w+)", blocks(PAGE, "python")[0].text, re.MULTILINE))
    assert shown == public
    assert {"LoadError", "LaunchError", "load"} <= set(tsc.__all__)


def test_the_keys_of_the_manifest_are_those_of_the_model() -> None:
    shown = set(re.findall(r"`(\w+)`", TEXT.partition("| key | for |")[2].partition("\n\n")[0]))
    known = set(model.Manifest.__dataclass_fields__)
    kept = {"tsc_version", "arch", "spec", "spec_sha256", "ctas_per_sm", "layout", "barriers", "manifest"}
    assert known - shown <= kept, known - shown


def test_the_kinds_of_arguments_are_those_of_the_model() -> None:
    shown = re.findall(r"^\| `(\w+)` ", TEXT.partition("| argument | is |")[2], re.MULTILINE)
    kinds = [kind.__name__.removesuffix("Argument") for kind in get_args(model.Argument)]
    assert sorted(word.replace("_", "") for word in shown) == sorted(kind.lower() for kind in kinds)
