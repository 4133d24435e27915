"""TSC600 to TSC699: the tiles themselves: how many they are, and orders that order nothing."""

from __future__ import annotations

from types import ModuleType

from tsc.rules.tiles import idle_tile_order, table_of_another_length, too_many_tiles

RULES: tuple[ModuleType, ...] = (
    too_many_tiles,
    idle_tile_order,
    table_of_another_length,
)
