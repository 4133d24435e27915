"""The data folders are found from a wheel, from an editable install and from a checkout."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.modules import ROOT

SHOW = """
import sys, site
site.addsitedir(sys.argv[1])
sys.path.insert(0, sys.argv[1])
from tsc import resources
print(*(resources.folder(name) for name in ("codegen", "schema")), sep="\\n")
"""


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def folders(place: Path, cwd: Path) -> list[Path]:
    """What a Python that finds tsc at `place` alone says about the folders."""
    shown = run(sys.executable, "-S", "-I", "-c", SHOW, place, cwd=cwd)
    return [Path(line) for line in shown.splitlines()]


def install(what: list[str | Path], target: Path) -> None:
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    run(*pip, "--target", target, *what, cwd=target.parent)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that `pip install .` makes."""
    target = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", target, cwd=ROOT)
    (made,) = target.iterdir()
    return made


def test_wheel_has_them_inside_the_package(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "site"
    install([wheel], target)
    assert folders(target, tmp_path) == [target / "tsc" / "_codegen", target / "tsc" / "_schema"]
    assert {entry.name for entry in target.iterdir()} == {
        "bin",
        "tsc",
        f"{wheel.name.partition('-py3')[0]}.dist-info",
    }
    for name in ("codegen", "schema"):
        files = {path.relative_to(ROOT / name) for path in (ROOT / name).rglob("*") if path.is_file()}
        packed = target / "tsc" / f"_{name}"
        assert {path.relative_to(packed) for path in packed.rglob("*") if path.is_file()} == files


def test_editable_install_has_them_at_the_root(tmp_path: Path) -> None:
    target = tmp_path / "site"
    install(["--editable", ROOT], target)
    assert folders(target, tmp_path) == [ROOT / "codegen", ROOT / "schema"]


def test_checkout_has_them_at_the_root(tmp_path: Path) -> None:
    assert folders(ROOT, tmp_path) == [ROOT / "codegen", ROOT / "schema"]


def test_folder_of_another_distribution_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "tsc").mkdir()
    (tmp_path / "tsc" / "resources.py").write_bytes((ROOT / "tsc" / "resources.py").read_bytes())
    (tmp_path / "schema").mkdir()
    (tmp_path / "codegen").mkdir()
    with pytest.raises(AssertionError, match="this installation of tsc has no folder `codegen`"):
        folders(tmp_path, tmp_path)
