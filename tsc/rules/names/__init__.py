"""TSC100 to TSC119: names, scopes, and what is known where."""

from __future__ import annotations

from types import ModuleType

from tsc.rules.names import (
    circular_let,
    copy_out_of_range,
    duplicate_name,
    expression_without_value,
    misused_tensor,
    name_out_of_scope,
    promise_about_nothing,
    reserved_part_name,
    shadowed_name,
    unknown_buffer,
    unknown_name,
    unknown_resource,
    unused_declaration,
    unused_resource,
    value_known_too_late,
    work_without_text,
)

RULES: tuple[ModuleType, ...] = (
    duplicate_name,
    unknown_name,
    name_out_of_scope,
    value_known_too_late,
    circular_let,
    expression_without_value,
    unknown_resource,
    unknown_buffer,
    shadowed_name,
    reserved_part_name,
    promise_about_nothing,
    misused_tensor,
    copy_out_of_range,
    unused_resource,
    unused_declaration,
    work_without_text,
)
