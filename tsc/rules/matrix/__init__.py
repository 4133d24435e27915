"""TSC220 to TSC241: fragments, matrix products, and the registers that both take."""

from __future__ import annotations

from types import ModuleType

from tsc.rules.matrix import (
    fragment_does_not_spread,
    fragment_of_two_layouts,
    fragments_exceed_registers,
    layouts_differ,
    matrix_copy_does_not_fit,
    not_a_fragment,
    operand_in_wrong_registers,
    operand_of_wrong_major,
    operand_without_pattern,
    part_outside_fragment,
    product_does_not_fit,
    product_of_wrong_dtypes,
    result_never_read,
    scales_do_not_fit,
    tensor_move_does_not_fit,
    tensor_product_does_not_fit,
    too_few_registers_at_start,
)

RULES: tuple[ModuleType, ...] = (
    not_a_fragment,
    fragment_does_not_spread,
    product_does_not_fit,
    product_of_wrong_dtypes,
    operand_of_wrong_major,
    operand_without_pattern,
    matrix_copy_does_not_fit,
    part_outside_fragment,
    layouts_differ,
    operand_in_wrong_registers,
    too_few_registers_at_start,
    fragments_exceed_registers,
    tensor_product_does_not_fit,
    fragment_of_two_layouts,
    tensor_move_does_not_fit,
    scales_do_not_fit,
    result_never_read,
)
