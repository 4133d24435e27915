"""TSC5xx: architecture, tensor maps, launch, and what is not generated yet."""

from __future__ import annotations

from types import ModuleType

from tsc.rules.target import (
    assertion_fails,
    bulk_copy_does_not_fit,
    bulk_copy_outside,
    cluster_too_large,
    coordinates_miscounted,
    count_never_reached,
    counter_of_wrong_kind,
    fixed_cta_count,
    idle_cta_count,
    missing_target_suffix,
    multicast_of_different_boxes,
    nan_fill_of_integers,
    narrowed_argument,
    not_generated,
    not_on_this_target,
    reduction_of_wrong_dtype,
    row_pitch,
    scalar_of_narrow_dtype,
    store_before_the_tensor,
    tma_box_does_not_fit,
    uneven_share,
    unfinished_read,
    unknown_target,
    unsolvable_shape,
)

RULES: tuple[ModuleType, ...] = (
    unknown_target,
    missing_target_suffix,
    not_on_this_target,
    cluster_too_large,
    coordinates_miscounted,
    tma_box_does_not_fit,
    bulk_copy_does_not_fit,
    multicast_of_different_boxes,
    store_before_the_tensor,
    reduction_of_wrong_dtype,
    bulk_copy_outside,
    nan_fill_of_integers,
    row_pitch,
    narrowed_argument,
    assertion_fails,
    unsolvable_shape,
    scalar_of_narrow_dtype,
    idle_cta_count,
    fixed_cta_count,
    counter_of_wrong_kind,
    count_never_reached,
    uneven_share,
    unfinished_read,
    not_generated,
)
