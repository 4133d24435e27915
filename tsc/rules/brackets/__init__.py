"""TSC3xx: what stands inside an acquire and its commit, a wait and its release."""

from __future__ import annotations

from types import ModuleType

RULES: tuple[ModuleType, ...] = ()
