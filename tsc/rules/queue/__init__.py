"""TSC320 to TSC339: the protocol of the queue where it is written, its order, and which tiles are skipped."""

from __future__ import annotations

from types import ModuleType

from tsc.rules.queue import (
    idle_scheduler,
    idle_skip_if,
    misfit_tile_order,
    misplaced_stride,
    missing_queue_step,
    queue_step_outside_tail,
    queue_steps_out_of_order,
    repeated_queue_step,
    second_scheduler,
    skip_differs,
    skip_differs_in_cluster,
    stride_misses_tiles,
    tiles_by_cta,
    tiles_from_written_tensor,
    unknown_order_axis,
)

RULES: tuple[ModuleType, ...] = (
    queue_step_outside_tail,
    missing_queue_step,
    queue_steps_out_of_order,
    repeated_queue_step,
    second_scheduler,
    idle_scheduler,
    misplaced_stride,
    unknown_order_axis,
    misfit_tile_order,
    skip_differs,
    idle_skip_if,
    skip_differs_in_cluster,
    stride_misses_tiles,
    tiles_from_written_tensor,
    tiles_by_cta,
)
