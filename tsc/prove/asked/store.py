"""The numbers and facts that have been asked for, each once."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from tsc.expr.polynomial import ONE, Poly, atom, constant, content, plus, scaled, tree_of, varying
from tsc.expr.tree import Binary, Compare, Int, Node
from tsc.prove.asked.decide import Decider
from tsc.prove.asked.scope import Scope
from tsc.prove.asked.symbols import Symbols, coordinate_of, free
from tsc.prove.machine import Bound, Fact, Number


@dataclass
class Store:
    """Numbers by their primitive linear form, facts by their condition; both know their expressions."""

    symbols: Symbols
    decider: Decider
    rounds: int  # a count known when built is a question only beyond so many

    def __post_init__(self) -> None:
        """Begin with nothing asked."""
        self.numbers: list[Number] = []
        self.facts: list[Fact] = []
        self.number_trees: list[Node] = []
        self.fact_trees: list[Node | None] = []
        self._numbers: dict[Node, int] = {}
        self._facts: dict[Hashable, int] = {}
        self.wording: dict[Node, str] = {}  # how the author writes a form
        self.forms: set[Node] = set()  # those that bound a loop somewhere
        self._large: list[tuple[int, int]] = []  # a count known when built, its number

    # ---- numbers -------------------------------------------------------------------------------------------

    def bound(self, poly: Poly, scope: Scope, start: int | None = None) -> Bound:
        """Return a bound for an expression: a positive multiple of its primitive form, and a constant.

        With `start` it is looked whether a loop from there has a round in any case.
        """
        rest, offset = varying(poly), poly.get(ONE, 0)
        if not rest:
            return Bound(None, 1, offset)
        scale = content(rest)
        form = {monomial: value // scale for monomial, value in rest.items()}
        least = None
        if start is not None:
            some = Compare((">",), (tree_of(form), Int((start - offset) // scale)))
            if self.decider.decide(some, scope, everywhere=True):
                least = (start - offset) // scale + 1
        return Bound(self.number(form, scope, least), scale, offset)

    def number(self, form: Poly, scope: Scope, least: int | None = None) -> int:
        """Return the number with this primitive form; `least`: known to be at least that here."""
        tree = tree_of(form)
        depth = min(self.symbols.depth(free(tree)), max(scope.depth, 1))
        lo, hi = self.decider.bounds(tree, scope, self.rounds)
        if least is not None and least <= self.rounds:
            lo = least if lo is None else max(lo, least)
        index = self._numbers.get(tree)
        if index is None:
            index = self._numbers[tree] = len(self.numbers)
            text = self.wording.get(tree) or self.symbols.text(tree)
            self.numbers.append(
                Number(self._name(text, [number.name for number in self.numbers]), depth, lo, hi)
            )
            self.number_trees.append(tree)
            return index
        known = self.numbers[index]
        if any(coordinate_of(name) for name in free(tree)):
            # What a loop around tells of its value does not hold in another loop.
            lo = None if lo is None or known.lo is None else min(lo, known.lo)
            hi = None if hi is None or known.hi is None else max(hi, known.hi)
        else:
            lo = max((one for one in (lo, known.lo) if one is not None), default=None)
            hi = min((one for one in (hi, known.hi) if one is not None), default=None)
        self.numbers[index] = replace(known, depth=min(depth, known.depth), lo=lo, hi=hi)
        return index

    def expect(self, poly: Poly) -> None:
        """Note that a loop has this bound, so that comparisons of its number ask for the number."""
        rest = varying(poly)
        if rest:
            scale = content(rest)
            self.forms.add(tree_of({monomial: value // scale for monomial, value in rest.items()}))

    def either_sign(self, form: Poly, scope: Scope) -> tuple[int, bool] | None:
        """Return the number of a form or of its negative, and whether it is the form itself.

        Nothing if neither bounds a loop.
        """
        flipped = scaled(form, -1)
        for one, own in ((form, True), (flipped, False)):
            tree = tree_of(one)
            if tree in self.forms or tree in self._numbers:
                return self.number(one, scope), own
        return None

    def quotients(self) -> list[Binary]:
        """Return the quotients by a constant that bound loops."""
        trees = {*self.forms, *self._numbers}
        found = [tree for tree in trees if isinstance(tree, Binary) and tree.op == "//"]
        return sorted((tree for tree in found if isinstance(tree.right, Int)), key=self.symbols.text)

    def large(self, count: int) -> Bound:
        """Return a bound for a large count known when built; counts near each other share a number."""
        for base, index in self._large:
            if abs(count - base) <= self.rounds:
                return Bound(index, 1, count - base)
        index = len(self.numbers)
        name = self._name(f"{count:,}", [number.name for number in self.numbers])
        self.numbers.append(Number(name, 0, self.rounds))
        self.number_trees.append(Int(count))
        self._large.append((count, index))
        return Bound(index, 1, 0)

    def tiles(self, lo: int, hi: int | None) -> int:
        """Return the number of tiles of this CTA."""
        symbol = self.symbols.own("tiles", "tiles of the CTA", 0)
        tree = tree_of(atom(symbol))
        if tree not in self._numbers:
            self._numbers[tree] = len(self.numbers)
            self.numbers.append(Number(symbol.name, 0, lo, hi))
            self.number_trees.append(tree)
        return self._numbers[tree]

    def refresh(self) -> None:
        """Give numbers and facts the depth of what they are made of, which keys may have made less."""
        for i, number in enumerate(self.numbers):
            depth = min(number.depth, self.symbols.depth(free(self.number_trees[i])))
            self.numbers[i] = replace(number, depth=depth)

    # ---- facts ---------------------------------------------------------------------------------------------

    def fact(self, key: Hashable, text: str, depth: int, tree: Node | None) -> int:
        """Return the fact with this key; asked at several depths it depends on the fewest loops."""
        index = self._facts.get(key)
        if index is None:
            index = self._facts[key] = len(self.facts)
            self.facts.append(Fact(self._name(text, [fact.name for fact in self.facts]), depth))
            self.fact_trees.append(tree)
        elif depth < self.facts[index].depth:
            self.facts[index] = replace(self.facts[index], depth=depth)
        return index

    @staticmethod
    def _name(text: str, taken: list[str]) -> str:
        name, number = text, 1
        while name in taken:
            number += 1
            name = f"{text} ({number})"
        return name


def shifted(poly: Poly, offset: int) -> Poly:
    """Return an expression plus a constant."""
    return plus(poly, constant(offset))
