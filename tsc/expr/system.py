"""Systems of linear inequalities over integers: a refutation by Fourier-Motzkin elimination.

Each row is a polynomial that is at least zero; its monomials count as variables of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import gcd

from tsc.expr.polynomial import ONE, Monomial, Poly, varying

_MOST_ROWS = 120

_Row = tuple[tuple[Monomial, int], ...]


def contradictory(rows: Iterable[Poly]) -> bool:
    """Tell whether surely no integers meet all rows; False says nothing."""
    system = _System()
    for row in rows:
        system.add(row)
    while not system.contradicted and system.rows and len(system.rows) <= _MOST_ROWS:
        system.eliminate(system.cheapest())
    return system.contradicted


class _System:
    """Rows by their varying part, each with the tightest constant."""

    def __init__(self) -> None:
        self.rows: dict[_Row, int] = {}
        self.numbers: dict[Monomial, int] = {}
        self.contradicted = False

    def add(self, poly: Poly) -> None:
        """Add a row, with the constant rounded down to what integers can reach."""
        rest, offset = varying(poly), poly.get(ONE, 0)
        if not rest:
            self.contradicted = self.contradicted or offset < 0
            return
        for monomial in rest:
            self.numbers.setdefault(monomial, len(self.numbers))
        common = gcd(*rest.values())
        key = tuple(sorted(((m, value // common) for m, value in rest.items()), key=self.order))
        offset //= common
        if offset < self.rows.get(key, offset + 1):
            self.rows[key] = offset

    def order(self, entry: tuple[Monomial, int]) -> int:
        return self.numbers[entry[0]]

    def cheapest(self) -> Monomial:
        """Return the variable to eliminate: one where that is exact over integers before one of few rows."""
        signs: dict[Monomial, list[int]] = {}
        steps: dict[Monomial, list[int]] = {}
        for row in self.rows:
            for monomial, value in row:
                signs.setdefault(monomial, [0, 0])[value > 0] += 1
                step = steps.setdefault(monomial, [0, 0])
                step[value > 0] = max(step[value > 0], abs(value))

        def cost(monomial: Monomial) -> tuple[bool, int, int]:
            below, above = signs[monomial]
            return min(steps[monomial]) > 1, below * above - below - above, self.numbers[monomial]

        return min(signs, key=cost)

    def eliminate(self, monomial: Monomial) -> None:
        """Replace the rows that have a variable by all sums of two in which it cancels."""
        below: list[tuple[Mapping[Monomial, int], int]] = []
        above: list[tuple[Mapping[Monomial, int], int]] = []
        kept: dict[_Row, int] = {}
        for row, offset in self.rows.items():
            values = dict(row)
            if monomial not in values:
                kept[row] = offset
            else:
                (below if values[monomial] > 0 else above).append((values, offset))
        self.rows = kept
        for low, low_offset in below:
            for high, high_offset in above:
                x, y = -high[monomial], low[monomial]
                summed = {m: x * low.get(m, 0) + y * high.get(m, 0) for m in low.keys() | high.keys()}
                self.add(
                    {
                        **{m: value for m, value in summed.items() if value},
                        ONE: x * low_offset + y * high_offset,
                    }
                )
                if self.contradicted or len(self.rows) > _MOST_ROWS:
                    return
