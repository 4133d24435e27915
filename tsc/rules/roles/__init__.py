"""TSC170 to TSC189: the roles of tasks on rings, and what is written against what is derived."""

from __future__ import annotations

from types import ModuleType

RULES: tuple[ModuleType, ...] = ()
