"""The fixture `kernel`, which loads shipped kernels.

Cubins are built here where tsc's own dependencies are installed; elsewhere TSC_CUBINS names a folder of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import tsc

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Loads a shipped kernel by its spec's path, such as `copy/tma`; constants as keywords.

    `policy` is that of its queue, `tiles`.
    """
    loaded: dict[tuple[str, tuple[tuple[str, int | str], ...]], Any] = {}

    def load(spec: str, **settings: int | str) -> Any:
        key = (spec, tuple(sorted(settings.items())))
        if key not in loaded:
            name = cubin_name(spec, settings)
            ready = os.environ.get("TSC_CUBINS")
            path = Path(ready) / name if ready else tmp_path_factory.mktemp("cubins") / name
            if not ready:
                build(spec, path, settings)
            loaded[key] = tsc.load(path)
        return loaded[key]

    return load


def cubin_name(spec: str, settings: Mapping[str, int | str]) -> str:
    """The file of a kernel in the folder that TSC_CUBINS names."""
    return "_".join([spec.replace("/", "_"), *(f"{k}{v}" for k, v in sorted(settings.items()))]) + ".cubin"


def build(spec: str, path: Path, settings: Mapping[str, int | str]) -> None:
    from typer.testing import CliRunner

    from tsc.cli.app import app

    call = ["build", str(ROOT / "specs" / f"{spec}.tsc.yaml"), "-o", str(path)]
    for name, value in settings.items():
        call += (
            ["--set", f"resources.tiles.policy={value}"] if name == "policy" else ["-D", f"{name}={value}"]
        )
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 0, result.output
