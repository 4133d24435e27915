"""Kernels of the GPU tests: built here, or taken from where they lie ready.

A machine with a GPU needs no compiler then: TSC_CUBINS names a folder that `benchmarks/gpu_tests.py make`
wrote. All of them come through `image`, where that script learns what the tests ask for.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

ROOT = Path(__file__).resolve().parents[1]


class Recipe(Protocol):
    """How a cubin is made."""

    def build(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Text:
    """A spec's text, generated and compiled as it is, checked or not."""

    text: str
    name: str = "spec.tsc.yaml"
    sanitize: bool = False

    def build(self) -> bytes:
        from tests.emit.kernels import cuda, document
        from tsc.toolchain.build import compile_source

        source = cuda(document(self.text, self.name), sanitize=self.sanitize)
        return compile_source(source, {}, "sm_90a").cubin


@dataclass(frozen=True, slots=True)
class Shipped:
    """A shipped spec, by its path such as `copy/tma`, as `tsc build` makes it.

    Settings are constants; `policy` is that of its queue, `tiles`.
    """

    spec: str
    settings: tuple[tuple[str, int | str], ...] = ()

    @property
    def file(self) -> str:
        parts = (f"{name}{value}" for name, value in sorted(self.settings))
        return "_".join([self.spec.replace("/", "_"), *parts])

    def build(self) -> bytes:
        from typer.testing import CliRunner

        from tsc.cli.app import app

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "kernel.cubin")
            call = ["build", str(ROOT / "specs" / f"{self.spec}.tsc.yaml"), "-o", str(path)]
            for name, value in self.settings:
                policy = ["--set", f"resources.tiles.policy={value}"]
                call += policy if name == "policy" else ["-D", f"{name}={value}"]
            result = CliRunner().invoke(app, call)
            assert result.exit_code == 0, result.output
            return path.read_bytes()


def image(name: str, recipe: Recipe) -> bytes:
    """A cubin; `name` is its file below TSC_CUBINS, without the ending."""
    ready = os.environ.get("TSC_CUBINS")
    return Path(ready, f"{name}.cubin").read_bytes() if ready else recipe.build()


def kernel(name: str, recipe: Recipe) -> Any:
    """The same, loaded."""
    import tsc

    return tsc.load(image(name, recipe))


def shipped(spec: str, settings: Mapping[str, int | str]) -> Any:
    """A shipped kernel, loaded."""
    recipe = Shipped(spec, tuple(sorted(settings.items())))
    return kernel(recipe.file, recipe)
