"""TSC120 to TSC149: the grammar of the schedule."""

from __future__ import annotations

from types import ModuleType

RULES: tuple[ModuleType, ...] = ()
