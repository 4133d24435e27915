"""TSC316, TSC34x, TSC40x and TSC41x: what the proof of the schedule says."""

from __future__ import annotations

from types import ModuleType

from tsc.rules.proof import (
    access_before_pdl_wait,
    arrival_out_of_phase,
    deadlock,
    early_wait,
    forms_of_key_differ,
    guards_differ,
    lapped_wait,
    missing_proxy_fence,
    overlay_race,
    pdl_launch_before_wait,
    race,
    race_with_engine,
    read_of_nothing,
    read_of_older_fill,
    staging_reused,
    unconsumed_fill,
    unequal_trip_counts,
    unproven,
)

RULES: tuple[ModuleType, ...] = (
    unequal_trip_counts,
    forms_of_key_differ,
    guards_differ,
    deadlock,
    lapped_wait,
    early_wait,
    arrival_out_of_phase,
    unconsumed_fill,
    unproven,
    race,
    race_with_engine,
    staging_reused,
    missing_proxy_fence,
    read_of_nothing,
    read_of_older_fill,
    overlay_race,
    access_before_pdl_wait,
    pdl_launch_before_wait,
)
