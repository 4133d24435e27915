"""Facts that several rules ask of one program, worked out once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from tsc.program.model import Program

T = TypeVar("T")


def per_program(facts: Callable[[Program], T]) -> Callable[[Program], T]:
    """Keep the result for the program that was asked about last: the rules of a check all ask about one."""
    last: list[tuple[Program, T]] = []

    def remembered(program: Program) -> T:
        if not last or last[0][0] is not program:
            last[:] = [(program, facts(program))]
        return last[0][1]

    return remembered
