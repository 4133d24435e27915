"""docs/running.md, and the example that it shows: cuda-python alone, held by the bindings' own signatures."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import tsc
from tests.docs.pages import ROOT, blocks, page
from tsc.artifact import model
from tsc.runtime.kernel import Kernel

PAGE = "running.md"
EXAMPLE = ROOT / "examples" / "plain_cuda_python.py"
TEXT = page(PAGE)

# What the driver was asked; the sizes are the example's own, on a GPU of 132 multiprocessors.
ASKED = {
    "copy/bulk": """\
kernel bulk_copy
attribute 8 = 196800
grid 132 1 1, block 96 1 1, shared 196800, attributes 0, last 1000003
""",
    "copy/tma": """\
kernel tma_copy
attribute 8 = 98496
map type 9, 1016 by 64 (1), 1000 by 64 (1), pitch 2032, modes 0 0 2 0
map type 9, 1016 by 64 (1), 1000 by 64 (1), pitch 2032, modes 0 0 2 0
grid 16 1 1, block 64 1 1, shared 98496, attributes 0, last 1016
""",
}
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


@pytest.mark.parametrize("spec", ASKED)
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
    assert done.stderr == ASKED[spec]


@pytest.mark.gpu
@pytest.mark.parametrize("spec", ASKED)
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
    assert len(found) == 3
    for block in found:
        compile(block.text, PAGE, "exec")


def test_every_command_of_a_shell_exists() -> None:
    (block,) = blocks(PAGE, "sh")
    words = [line.split() for line in block.text.splitlines()]
    assert [line[:2] for line in words if line[0] == "tsc"] == [["tsc", "build"], ["tsc", "inspect"]]
    assert all((ROOT / word).is_file() for line in words for word in line if "/" in word)


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
