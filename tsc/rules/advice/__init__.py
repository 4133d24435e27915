"""TSC7xx: what is right and slower than it has to be; shown by `--select TSC7` alone."""

from __future__ import annotations

from types import ModuleType

from tsc.rules.advice import (
    cluster_of_four,
    held_longer_than_read,
    product_alone,
)

RULES: tuple[ModuleType, ...] = (
    cluster_of_four,
    product_alone,
    held_longer_than_read,
)
