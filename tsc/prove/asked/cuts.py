"""Comparisons of one number with several constants, told apart so that their answers fit together.

Facts are free of each other, but `mode == 0` and `mode == 1` are not. So where a number is compared with more
than one constant, the constants cut its values into ranges, and a fact is asked a cut: whether the number is
at least so large, given that it is as large as the cut before. Any answers name one range, and any range has
its answers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tsc.expr.polynomial import Poly, leading, scaled, tree_of
from tsc.expr.tree import Node

# With more constants than this comparisons are facts of their own, which only adds runs.
MOST_CUTS = 16


@dataclass(frozen=True, slots=True)
class Comparison:
    """Whether `form` is at least `limit`, or equal to it, or, without `value`, whether it is not."""

    form: Node
    equal: bool
    limit: int
    value: bool

    @property
    def cuts(self) -> tuple[int, ...]:
        """The least values of the ranges that it tells apart."""
        return (self.limit, self.limit + 1) if self.equal else (self.limit,)


def compared(op: str, poly: Poly) -> Comparison:
    """Return `poly op 0` with the number's sign chosen, so that opposite comparisons are of one number."""
    offset = poly.get((), 0)
    form = {monomial: value for monomial, value in poly.items() if monomial}
    own = leading(form) > 0
    tree = tree_of(form if own else scaled(form, -1))
    if op == ">=":
        return Comparison(tree, False, -offset, True) if own else Comparison(tree, False, offset + 1, False)
    return Comparison(tree, True, -offset if own else offset, op == "==")


@dataclass
class Cuts:
    """The comparisons of each number in the whole program."""

    _found: dict[Node, dict[tuple[bool, int], None]] = field(default_factory=dict)

    def note(self, one: Comparison) -> None:
        """Note a comparison."""
        self._found.setdefault(one.form, {})[one.equal, one.limit] = None

    def of(self, one: Comparison) -> list[int]:
        """Return the cuts of a number, the least first; none where one fact says it all."""
        known = self._found.get(one.form, {})
        if len(known) < 2 or (one.equal, one.limit) not in known:
            return []
        cuts = sorted({limit + more for equal, limit in known for more in ((0, 1) if equal else (0,))})
        return cuts if len(cuts) <= MOST_CUTS else []
