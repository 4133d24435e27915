"""Leaves a size out of a case, or gives one that the kernel does not take.

What it does
    Checks that every entry of `verify.cases` and `tune.cases` gives each dim an integer and each scalar param
    a number, no other name, and sizes that keep the promises under `dims`. An entry of `tune.cases` may leave
    the numbers to the first of `verify.cases`.

Why is this bad
    The case cannot be run, or the loader refuses it.

Example
    params:
      x: {dtype: f32, shape: [m, n]}
    verify:
      cases: [{m: 128}]

Use instead
    verify:
      cases: [{m: 128, n: 256}]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr import did_you_mean
from tsc.expr.hints import listing
from tsc.program.model import Program
from tsc.source.route import Route

RULE = Rule("TSC195", "incomplete-case", Severity.ERROR, "a case gives not what the kernel takes")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each case that lacks a value, and each value that does not belong."""
    taken = [*program.dims, *program.scalars]
    for route, case, wanted in _cases(program):
        missing = [name for name in wanted if name not in case]
        # One mistake: what was meant for a missing name stands under a wrong one.
        wrong = [name for name in case if name not in taken and name not in program.constants]
        for name in wrong:
            help = did_you_mean(name, missing or taken) or f"a case gives {listing(taken)}" if taken else ""
            message = f"`{name}` is no dim and no scalar param"
            yield Finding(RULE.name, message, Place((*route, name), "key"), help=help or "leave it out")
        if missing and not wrong:
            message = f"the case gives no value to {listing(missing)}"
            yield Finding(
                RULE.name, message, Place(route), help=f"add {', '.join(f'`{n}: ...`' for n in missing)}"
            )
        yield from _promises(program, case, route)


def _cases(program: Program) -> Iterator[tuple[Route, Mapping[str, object], list[str]]]:
    """Yield each case with the names that it has to give."""
    verified = program.spec.verify.cases if program.spec.verify is not None else ()
    for index, case in enumerate(verified):
        yield ("verify", "cases", index), case, [*program.dims, *program.scalars]
    known = verified[0] if verified else {}
    for index, case in enumerate(program.spec.tune.cases if program.spec.tune is not None else ()):
        numbers = [name for name in program.scalars if name not in known]
        yield ("tune", "cases", index), case, [*program.dims, *numbers]


def _promises(program: Program, case: Mapping[str, object], route: Route) -> Iterator[Finding]:
    for name, dim in program.dims.items():
        value = case.get(name)
        place = Place((*route, name))
        low = program.spec.dims[name].min if name in program.spec.dims else None
        least = program.values.integer(low, ("dims", name, "min")) or 0  # without one 0 is taken: no launch
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool):
            shown = str(value).lower() if isinstance(value, bool) else value
            yield Finding(
                RULE.name, f"`{name}` is a size, and this is `{shown}`", place, help="write an integer"
            )
        elif not least <= value <= dim.interval.hi:
            bound = least if value < least else dim.interval.hi
            side = "at least" if value < least else "at most"
            message = f"`{name}` is {value:,} in this case, and the kernel takes {side} {bound:,}"
            yield Finding(RULE.name, message, place, help="write another size, or change `dims`")
        elif value % dim.multiple_of:
            message = (
                f"`{name}` is {value:,} in this case, and the kernel takes multiples of {dim.multiple_of:,}"
            )
            yield Finding(
                RULE.name, message, place, help=f"write {-(-value // dim.multiple_of) * dim.multiple_of}"
            )
