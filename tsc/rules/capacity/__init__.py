"""TSC2xx: memory, registers, warps, arrival counts and bytes."""

from __future__ import annotations

from types import ModuleType

RULES: tuple[ModuleType, ...] = ()
