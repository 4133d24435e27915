"""The steps of the queue, where a task writes them."""

from __future__ import annotations

from types import ModuleType

RULES: tuple[ModuleType, ...] = ()
