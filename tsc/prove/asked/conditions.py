"""Conditions as the machine's tests."""

from __future__ import annotations

from collections.abc import Iterator

from tsc.expr import Interval
from tsc.expr.normal import comparison, condition_of, floor_of, negated, poly_of
from tsc.expr.polynomial import Monomial, Poly, constant, plus, scaled, tree_of, value_of
from tsc.expr.printer import text_of
from tsc.expr.tree import Binary, Bool, Choice, Compare, Index, Int, Logic, Node, Ref
from tsc.prove.asked.cuts import Comparison, Cuts, compared
from tsc.prove.asked.decide import Decider
from tsc.prove.asked.model import FALSE, TRUE, both, either, in_rounds, opposite
from tsc.prove.asked.periodic import rounds_of
from tsc.prove.asked.quotients import unfolded
from tsc.prove.asked.scope import Scope, Turn
from tsc.prove.asked.store import Store, shifted
from tsc.prove.asked.symbols import THREAD_NAMES, coordinate_of, free, replaced
from tsc.prove.machine import Ask, Bound, Exceeds, Test

_ROUND = Ref("round:")
# Choices within choices are told apart so deep; beyond, their value is a number of its own.
_MOST_CHOICES = 4
# Conditions of more parts than this are looked at part by part.
_MOST_PARTS = 3


class Conditions:
    """Turns conditions in symbols into tests at a place."""

    def __init__(self, store: Store, decider: Decider, cuts: Cuts, collecting: bool = False) -> None:
        """With `collecting`, tests mean nothing, but the comparisons of numbers are noted."""
        self.cuts, self.collecting = cuts, collecting
        self.store, self.decider, self.symbols = store, decider, store.symbols
        self._choices = 0
        self._reached: dict[tuple[Node, int], Test] = {}

    def test(self, condition: Node, scope: Scope) -> Test:
        """Return the test of a condition at a place."""
        return self._test(condition_of(condition), scope)

    def _test(self, condition: Node, scope: Scope) -> Test:
        if isinstance(condition, Bool):
            return TRUE if condition.value else FALSE
        repeated = self._in_rounds(condition, scope)
        if repeated is not None:
            return repeated
        known = self.decider.decide(condition, scope) if _is_small(condition) else None
        if known is not None:
            return TRUE if known else FALSE
        if free(condition) & THREAD_NAMES and not isinstance(condition, Logic):
            return self._apart(condition, scope)
        match condition:
            case Logic(op=op, operands=operands):
                return (both if op == "and" else either)([self._test(one, scope) for one in operands])
            case Compare(ops=("==" | "!=" | ">=" as op,), operands=(left, Int(value=limit))):
                return self._compare(op, shifted(poly_of(left), -limit), condition, scope)
        return self._ask(condition, scope)

    # ---- facts ---------------------------------------------------------------------------------------------

    def _ask(self, condition: Node, scope: Scope) -> Test:
        """Ask for the fact that a condition is; opposite conditions are one."""
        other = negated(condition)
        swapped = _rank(other) < _rank(condition)
        tree = other if swapped else condition
        depth = min(self.symbols.depth(free(tree)), scope.depth)
        index = self.store.fact(tree, self.symbols.text(tree), depth, tree)
        return Ask(index, not swapped)

    def _apart(self, condition: Node, scope: Scope) -> Test:
        """Ask for a condition that differs between the threads of a task: a new answer every time."""
        other = negated(condition)
        swapped = _rank(other) < _rank(condition)
        tree = other if swapped else condition
        whose = f"`{scope.task.label}`{scope.places.of_rank(scope.rank)}"
        key = (scope.task.label, scope.rank, tree)
        index = self.store.fact(key, f"{self.symbols.text(tree)} in {whose}", scope.depth, None)
        return Ask(index, not swapped)

    # ---- rounds --------------------------------------------------------------------------------------------

    def _in_rounds(self, condition: Node, scope: Scope) -> Test | None:
        """Return the test of a condition on the round of one loop and constants."""
        names = free(condition)
        if len({coordinate_of(name) for name in names}) != 1:
            return None
        (coordinate,) = {coordinate_of(name) for name in names}
        for up, turn in _outwards(scope):
            if turn.coordinate == coordinate and all(not name.startswith("trips:") for name in names):
                value: Node = Binary("*", _ROUND, Int(turn.step)) if turn.step != 1 else _ROUND
                value = Binary("+", Int(turn.start), value) if turn.start else value
                values = {turn.symbol: value, f"iter:{coordinate}": _ROUND}
                found = rounds_of(replaced(condition, values), _ROUND.name)
                return None if found is None else in_rounds(*found, up)
        return None

    # ---- comparisons ---------------------------------------------------------------------------------------

    def _compare(self, op: str, poly: Poly, condition: Node, scope: Scope) -> Test:
        """Return the test of `poly op 0`."""
        for up, turn in _outwards(scope):
            if turn.step != 1 and turn.shape is not None:
                counted = self._counted(op, poly, up, turn, scope)
                if counted is not None:
                    return counted
        if not scope.counts.keys().isdisjoint(free(tree_of(poly))):
            return self.test(replaced(condition, scope.counts), scope)
        chosen = self._choice(op, poly, scope)
        if chosen is not None:
            return chosen
        truth = self._of_bool(op, poly, scope)
        if truth is not None:
            return truth
        for up, turn in _outwards(scope):
            found = self._of_value(op, poly, up, turn, scope)
            if found is not None:
                return found
        return self._of_number(op, poly, condition, scope)

    def _counted(self, op: str, poly: Poly, up: int, turn: Turn, scope: Scope) -> Test | None:
        """Compare a lane's round with the number of its rounds, or that number with a constant."""
        shape = turn.shape
        round_, trips = (Ref(f"iter:{turn.coordinate}"),), (Ref(f"trips:{turn.coordinate}"),)
        names = {(), round_, trips}
        if shape is None or trips not in poly or not set(poly) <= names or abs(poly[trips]) != 1:
            return None
        sign, offset = poly[trips], poly.get((), 0)
        if poly.get(round_, 0) not in (0, -sign):
            return None
        relative = round_ in poly
        bound = self.store.bound(poly_of(shape.bound), scope)

        def more(than: int) -> Test:
            """Ask whether there are more rounds than `than`, counted from this one or from the first."""
            if than <= 0:
                return TRUE
            if relative:
                return Exceeds(bound, than * shape.step, up)
            return Exceeds(bound, turn.start + than * shape.step, None)

        # sign * (trips - round) + offset
        if op == ">=":
            return more(-offset - 1) if sign > 0 else opposite(more(offset))
        equal = both((more(-sign * offset - 1), opposite(more(-sign * offset))))
        return equal if op == "==" else opposite(equal)

    def _of_value(self, op: str, poly: Poly, up: int, turn: Turn, scope: Scope) -> Test | None:
        """Compare the value of a loop with a number."""
        own = (Ref(turn.symbol),)
        factor = poly.get(own, 0)
        rest = {monomial: value for monomial, value in poly.items() if monomial != own}
        within = [monomial for monomial in rest if any(turn.symbol in free(node) for node in monomial)]
        if not factor:
            return self._of_quotient(op, poly, within, scope)
        if within or value_of(rest) is not None or (op != ">=" and abs(factor) != 1):
            return None
        if self.symbols.depth(free(tree_of(rest))) > turn.coordinate:
            return None  # the number is another one in each round of the loop
        if op == ">=":
            return self._less(rest, factor, up, scope)
        below = self._half(">=", scaled(poly, -1), scope)
        above = self._half(">=", poly, scope)
        return both((below, above)) if op == "==" else either((opposite(below), opposite(above)))

    def _less(self, rest: Poly, factor: int, up: int, scope: Scope) -> Test | None:
        """Return the test of `factor * v + rest >= 0`."""
        quotient = floor_of(rest, constant(abs(factor)))
        if quotient is None:
            return None
        if factor > 0:
            return Exceeds(self.store.bound(scaled(quotient, -1), scope), 0, up, value=False)
        return Exceeds(self.store.bound(shifted(quotient, 1), scope), 0, up)

    def _of_quotient(self, op: str, poly: Poly, within: list[Monomial], scope: Scope) -> Test | None:
        """Compare a quotient of a loop's value with a number: as the value itself."""
        if len(within) != 1:
            return None
        above, below = unfolded(poly, within[0]), unfolded(scaled(poly, -1), within[0])
        if above is None or below is None:
            return None
        if op == ">=":
            return self._half(">=", above, scope)
        equal = both((self._half(">=", above, scope), self._half(">=", below, scope)))
        return equal if op == "==" else opposite(equal)

    def _half(self, op: str, poly: Poly, scope: Scope) -> Test:
        return self._test(comparison(op, tree_of(poly), Int(0)), scope)

    def _of_number(self, op: str, poly: Poly, condition: Node, scope: Scope) -> Test:
        """Compare a number that no loop around moves with a constant.

        A number that bounds a loop is asked for itself. Any other comparison is a fact, which the whole run
        remembers.
        """
        form = {monomial: value for monomial, value in poly.items() if monomial}
        found = self.store.either_sign(form, scope)
        if found is None:
            rounded = self._of_rounded(op, poly, scope)
            return rounded or self._of_ranges(compared(op, poly), condition, scope)
        if op != ">=":
            below = self._half(">=", scaled(poly, -1), scope)
            above = self._half(">=", poly, scope)
            return both((below, above)) if op == "==" else either((opposite(below), opposite(above)))
        # form >= -offset, or with the other sign -form <= offset.
        (index, own), offset = found, poly.get((), 0)
        if own:
            return Exceeds(Bound(index, 1, 0), -offset - 1, None)
        return Exceeds(Bound(index, 1, 0), offset, None, value=False)

    def _of_rounded(self, op: str, poly: Poly, scope: Scope) -> Test | None:
        """Compare what a loop's bound is made of by that bound: `n >= 1` is `cdiv(n, 64) >= 1`."""
        if op != ">=":
            below, above = (self._of_rounded(">=", side, scope) for side in (scaled(poly, -1), poly))
            if below is None and above is None:
                return None
            below = below or self._half(">=", scaled(poly, -1), scope)
            above = above or self._half(">=", poly, scope)
            return both((below, above)) if op == "==" else either((opposite(below), opposite(above)))
        for quotient in self.store.quotients():
            divisor, left = value_of(poly_of(quotient.right)), poly_of(quotient.left)
            for own, side in ((True, poly), (False, shifted(scaled(poly, -1), -1))):
                # left + rest >= 0 is left // divisor >= -rest / divisor, where that is whole.
                rest = value_of(plus(side, scaled(left, -1)))
                if divisor and rest is not None and rest % divisor == 0:
                    index = self.store.number(poly_of(quotient), scope)
                    return Exceeds(Bound(index, 1, 0), -rest // divisor - 1, None, value=own)
        return None

    def _of_ranges(self, one: Comparison, condition: Node, scope: Scope) -> Test:
        """Ask in which of the ranges that the program tells apart a number lies."""
        if self.collecting:
            self.cuts.note(one)
            return FALSE
        steps = {cut: self._at_least(one.form, cut, scope) for cut in self.cuts.of(one)}
        if not steps:
            return self._ask(condition, scope)
        reached = [both(test for cut, test in steps.items() if cut <= limit) for limit in one.cuts]
        inside = both((reached[0], opposite(steps[one.cuts[1]]))) if one.equal else reached[0]
        return inside if one.value else opposite(inside)

    def _at_least(self, form: Node, cut: int, scope: Scope) -> Test:
        tree = Compare((">=",), (form, Int(cut)))
        fixed = not any(map(coordinate_of, free(form)))
        if fixed and (tree, scope.depth) in self._reached:
            return self._reached[tree, scope.depth]
        test = self._reached[tree, scope.depth] = self._is_at_least(tree, scope)
        return test

    def _is_at_least(self, tree: Node, scope: Scope) -> Test:
        known = self.decider.decide(tree, scope, everywhere=True)
        if known is not None:
            return TRUE if known else FALSE
        depth = min(self.symbols.depth(free(tree)), scope.depth)
        return Ask(self.store.fact(("cut", tree), self.symbols.text(tree), depth, tree))

    def _choice(self, op: str, poly: Poly, scope: Scope) -> Test | None:
        """Compare a choice by its branches."""
        if self._choices > _MOST_CHOICES:
            return None
        for monomial in poly:
            match monomial:
                case (Choice(test=test, then=then, other=other),):
                    sides = poly_of(then), poly_of(other)
                case (Compare() | Logic() as test,):
                    sides = constant(1), constant(0)
                case _:
                    continue
            rest = {name: value for name, value in poly.items() if name != monomial}
            self._choices += 1
            taken = self._test(test, scope)
            yes, no = (self._half(op, plus(rest, scaled(side, poly[monomial])), scope) for side in sides)
            self._choices -= 1
            return either((both((taken, yes)), both((opposite(taken), no))))
        return None

    def _of_bool(self, op: str, poly: Poly, scope: Scope) -> Test | None:
        """Ask whether a value of 0 or 1 is 1, where a comparison comes to that."""
        names = [monomial for monomial in poly if monomial]
        if len(names) != 1 or len(names[0]) != 1:
            return None
        (value,) = names[0]
        name = value.name if isinstance(value, Ref | Index) else ""
        if coordinate_of(name) is not None or self.symbols.ranges.get(name) != Interval(0, 1):
            return None
        results = [poly[names[0]] * side + poly.get((), 0) for side in (0, 1)]
        no, yes = (result >= 0 if op == ">=" else (result == 0) == (op == "==") for result in results)
        if yes == no:
            return TRUE if yes else FALSE
        tree = Compare(("!=",), (value, Int(0)))
        depth = min(self.symbols.depth(free(value)), scope.depth)
        return Ask(self.store.fact(tree, self.symbols.text(value), depth, tree), yes)


def _is_small(condition: Node) -> bool:
    """Whether it is worth to look at a condition as a whole and not only at its parts."""
    match condition:
        case Logic(operands=operands):
            return len(operands) <= _MOST_PARTS and not any(isinstance(one, Logic) for one in operands)
    return True


def _rank(condition: Node) -> tuple[bool, str]:
    unequal = isinstance(condition, Compare) and condition.ops == ("!=",)
    return unequal, text_of(condition)


def _outwards(scope: Scope) -> Iterator[tuple[int, Turn]]:
    """Yield the loops around a place from the innermost out, each with how many levels up it is."""
    yield from enumerate(reversed(scope.turns))
