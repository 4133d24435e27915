"""Which cases are run: those of the plan, some of them by number, or others by their values."""

from __future__ import annotations

from collections.abc import Sequence

from tsc.verify.plan import Case, Plan, PlanError, Value


def chosen(plan: Plan, choices: Sequence[str]) -> list[tuple[int, Case]]:
    """The cases with their numbers, from 1. A choice is a number, or `m=128,n=256`: the first with these.

    Raises PlanError for a number that is none, for values that cannot be read, and where nothing is left.
    """
    if not choices:
        if not plan.cases:
            raise PlanError(
                f"`{plan.spec}` has no `verify.cases`; write one, or give values, as in `--case m=128,n=256`"
            )
        return list(enumerate(plan.cases, 1))
    found: list[tuple[int, Case]] = []
    following = len(plan.cases)
    for choice in choices:
        if choice.strip().isdigit():
            number = int(choice)
            if not 1 <= number <= len(plan.cases):
                there = f"has cases 1 to {len(plan.cases)}" if plan.cases else "has no `verify.cases`"
                raise PlanError(f"there is no case {number}: `{plan.spec}` {there}")
            found.append((number, plan.cases[number - 1]))
        else:
            following += 1
            found.append((following, {**(plan.cases[0] if plan.cases else {}), **values_of(choice)}))
    return found


def values_of(text: str) -> Case:
    """The values of `m=128,n=256,eps=1e-6`. Raises PlanError."""
    case: dict[str, Value] = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, equals, value = (one.strip() for one in part.partition("="))
        read = _value(value)
        if not equals or not name.isidentifier() or read is None:
            raise PlanError(
                f"`{part}` is no value of a case; write `m=128`, several with commas between them"
            )
        case[name] = read
    if not case:
        raise PlanError(f"`{text}` is no case; write its number, or values such as `m=128,n=256`")
    return case


def _value(text: str) -> Value | None:
    if text in ("true", "false"):
        return text == "true"
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return None
