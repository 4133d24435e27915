"""TSC150 to TSC169: routes of values, arguments of works, and what snippets may do."""

from __future__ import annotations

from types import ModuleType

from tsc.rules.routing import (
    aux_with_payload,
    duplicate_output,
    listed_twice,
    missing_argument,
    name_collides_in_snippet,
    non_integer_value,
    out_count_mismatch,
    register_read_before_write,
    snippet_breaks_rules,
    stale_token,
    token_before_made,
    unassigned_output,
    unbalanced_snippet,
    undeclared_in_snippet,
    unknown_argument,
    unknown_at_call,
    unmentioned_in_snippet,
    unused_token,
    write_after_count,
    written_and_only_read,
)

RULES: tuple[ModuleType, ...] = (
    token_before_made,
    stale_token,
    out_count_mismatch,
    unused_token,
    missing_argument,
    unknown_argument,
    non_integer_value,
    register_read_before_write,
    duplicate_output,
    snippet_breaks_rules,
    undeclared_in_snippet,
    written_and_only_read,
    write_after_count,
    name_collides_in_snippet,
    listed_twice,
    unmentioned_in_snippet,
    aux_with_payload,
    unassigned_output,
    unbalanced_snippet,
    unknown_at_call,
)
