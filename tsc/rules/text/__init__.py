"""TSC0xx: text, keys, types and expressions, before anything is known about the kernel."""

from __future__ import annotations

from types import ModuleType

RULES: tuple[ModuleType, ...] = ()
