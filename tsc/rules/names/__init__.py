"""TSC100 to TSC119: names, scopes, and what is known where."""

from __future__ import annotations

from types import ModuleType

RULES: tuple[ModuleType, ...] = ()
