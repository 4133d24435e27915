"""TSC412 to TSC419: programmatic dependent launch, as far as it is seen without the proof."""

from __future__ import annotations

from types import ModuleType

from tsc.rules.pdl import missing_pdl_launch

RULES: tuple[ModuleType, ...] = (missing_pdl_launch,)
