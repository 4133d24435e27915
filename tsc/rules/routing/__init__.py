"""TSC150 to TSC169: tokens, arguments and the routes of values."""

from __future__ import annotations

from types import ModuleType

RULES: tuple[ModuleType, ...] = ()
