"""Where the data folders are: inside the package in a wheel, else at the root of the checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

_PACKAGE = Path(__file__).resolve().parent


def folder(name: Literal["codegen", "schema"]) -> Path:
    """The folder of templates and device headers (`codegen`) or of the published JSON Schema (`schema`).

    Raises FileNotFoundError where the installation is without it.
    """
    packed = _PACKAGE / f"_{name}"
    if packed.is_dir():
        return packed
    root = _PACKAGE.parent
    # Beside an installed package a folder of this name is another distribution's: only a checkout has both.
    if (root / name).is_dir() and (root / "pyproject.toml").is_file():
        return root / name
    raise FileNotFoundError(
        f"this installation of tsc has no folder `{name}`: looked for `{packed}`, `{root / name}`"
    )
