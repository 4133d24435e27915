"""TSC3xx: what stands inside an acquire and its commit, a wait and its release."""

from __future__ import annotations

from types import ModuleType

from tsc.rules.brackets import (
    commit_of_nothing,
    keep_holds_every_stage,
    more_held_than_stages,
    overwritten_overlay,
    paths_not_followed,
    read_outside_wait,
    release_before_store_wait,
    release_before_wgmma_wait,
    release_of_nothing,
    shared_stage_never_skipped,
    signal_before_wait,
    skip_while_holding,
    superfluous_try,
    try_without_its_step,
    uncommitted_stage,
    unreleased_stage,
    write_outside_acquire,
)

RULES: tuple[ModuleType, ...] = (
    write_outside_acquire,
    read_outside_wait,
    uncommitted_stage,
    unreleased_stage,
    commit_of_nothing,
    release_of_nothing,
    try_without_its_step,
    superfluous_try,
    skip_while_holding,
    keep_holds_every_stage,
    more_held_than_stages,
    overwritten_overlay,
    shared_stage_never_skipped,
    release_before_store_wait,
    release_before_wgmma_wait,
    paths_not_followed,
    signal_before_wait,
)
