"""TSC190 to TSC199: what a kernel is verified with (its reference, cases and inputs) and what is tuned."""

from __future__ import annotations

from types import ModuleType

from tsc.rules.verify import (
    incomplete_case,
    misfit_input,
    misfit_try,
    reference_does_not_fit,
    reference_of_no_output,
    second_reference,
    unknown_name_in_reference,
    unknown_name_in_where,
    unreadable_reference,
)

RULES: tuple[ModuleType, ...] = (
    unreadable_reference,
    unknown_name_in_reference,
    reference_of_no_output,
    reference_does_not_fit,
    second_reference,
    incomplete_case,
    misfit_input,
    misfit_try,
    unknown_name_in_where,
)
