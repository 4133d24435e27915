"""TSC5xx: architecture, tensor maps, launch, and what is not generated yet."""

from __future__ import annotations

from types import ModuleType

RULES: tuple[ModuleType, ...] = ()
