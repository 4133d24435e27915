"""Compiler for GPU task schedules: a YAML or TOML spec in, one checked cubin out; `tsc.load` runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsc.runtime.errors import LaunchError, LoadError
    from tsc.runtime.load import load
    from tsc.version import VERSION as __version__

__all__ = ["LaunchError", "LoadError", "__version__", "load"]

# Names are looked up when they are first used: a check must not pay for the launcher, nor the launcher for
# the models of the language.
_HOMES = {
    "LaunchError": ("tsc.runtime.errors", "LaunchError"),
    "LoadError": ("tsc.runtime.errors", "LoadError"),
    "__version__": ("tsc.version", "VERSION"),
    "load": ("tsc.runtime.load", "load"),
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module `tsc` has no attribute `{name}`")
    from importlib import import_module

    module, attribute = _HOMES[name]
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
