"""TSC0xx: text, keys, types and expressions, before anything is known about the kernel."""

from __future__ import annotations

from types import ModuleType

from tsc.rules.text import (
    bad_encoding,
    bad_expression,
    bad_name,
    bad_override,
    bad_reference,
    bad_syntax,
    cut_expression,
    duplicate_key,
    input_too_large,
    missing_key,
    non_literal_constant,
    not_a_mapping,
    not_one_verb,
    out_of_range,
    too_many_problems,
    unknown_key,
    unknown_kind,
    unsupported_version,
    unsupported_yaml,
    unused_ignore,
    wrong_choice,
    wrong_type,
)

RULES: tuple[ModuleType, ...] = (
    bad_syntax,
    duplicate_key,
    unsupported_yaml,
    input_too_large,
    not_a_mapping,
    bad_encoding,
    unused_ignore,
    unknown_key,
    missing_key,
    wrong_type,
    wrong_choice,
    bad_expression,
    bad_name,
    bad_reference,
    not_one_verb,
    unknown_kind,
    unsupported_version,
    out_of_range,
    cut_expression,
    non_literal_constant,
    bad_override,
    too_many_problems,
)
