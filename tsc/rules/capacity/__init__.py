"""TSC2xx: memory, registers, warps, arrival counts and bytes."""

from __future__ import annotations

from types import ModuleType

from tsc.rules.capacity import (
    count_below_one,
    empty_transaction,
    misaligned_buffer,
    overlapping_warps,
    overlay_does_not_fit,
    register_count_out_of_range,
    register_file_exceeded,
    registers_differ_in_warpgroup,
    swizzle_does_not_fit,
    too_many_barriers,
    too_many_unrolled_rounds,
    too_many_warps,
    too_much_shared_memory,
    too_much_tensor_memory,
    warp_gap,
)

RULES: tuple[ModuleType, ...] = (
    too_much_shared_memory,
    too_many_warps,
    overlapping_warps,
    warp_gap,
    register_count_out_of_range,
    registers_differ_in_warpgroup,
    register_file_exceeded,
    too_much_tensor_memory,
    count_below_one,
    misaligned_buffer,
    swizzle_does_not_fit,
    too_many_barriers,
    overlay_does_not_fit,
    empty_transaction,
    too_many_unrolled_rounds,
)
