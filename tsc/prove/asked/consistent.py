"""Whether answers can all be true, and small sizes under which they are.

Each question is an expression. Where it depends on loops around, its symbols stand for a value at these
coordinates, and the values of loops are the coordinates themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

from tsc.expr import Expr, Interval, parse, provably
from tsc.expr.tree import Bool, Call, Compare, Index, Int, Node, Ref, Unary, walk
from tsc.prove.asked.quotients import multiplied
from tsc.prove.asked.samples import value_at
from tsc.prove.asked.symbols import coordinate_of, expression, free, replaced
from tsc.prove.machine import Fact, Number
from tsc.prove.verdict import Coordinates

if TYPE_CHECKING:
    from tsc.prove.asked.questions import Questions

Told = tuple[Number | Fact, Coordinates, int | None, bool]
"""An answer: what was asked, where, whether above which threshold, and what was answered."""

# Points that are tried for a witness.
_MOST_POINTS = 4_000
_MOST_VALUES = 400
_NEVER = parse("false")


def consistent(questions: Questions, answers: Iterable[Told]) -> bool | None:
    """Tell whether answers can all be true: False if surely not, True if small values show it."""
    group = _Group(questions)
    if not all([group.add(answer) for answer in answers]):
        return False
    known: bool | None = True
    for conditions in group.parts():
        if any(isinstance(one, Bool) and not one.value for one in conditions):
            return False
        if _contradict(conditions, group):
            return False
        tensors = any(isinstance(node, Index | Call) and _reads(node) for c in conditions for node in walk(c))
        if tensors or _search(conditions, group) is None:
            known = None
    return known


def witness(questions: Questions, answers: Iterable[Told]) -> dict[str, int] | None:
    """Return small values of dims and scalar params under which all answers about these alone are true.

    None where there are no such answers, or none of the values that are tried is one.
    """
    group = _Group(questions)
    program, shares = questions.program, questions.symbols.shares
    asked = program.dims.keys() | program.scalars.keys() | shares.keys()
    for answer in answers:
        group.add(answer)
    found: dict[str, int] = {}
    for conditions in group.parts():
        names = frozenset().union(*map(free, conditions))
        if names and names <= asked:
            values = _search(conditions, group)
            if values is None:
                return None
            found |= {
                shares.get(name, name): value
                * (program.dims[shares[name]].multiple_of if name in shares else 1)
                for name, value in values.items()
            }
    return {name: found[name] for name in (*program.dims, *program.scalars) if name in found} or None


class _Group:
    """What answers say, as conditions on symbols at coordinates."""

    def __init__(self, questions: Questions) -> None:
        self.questions, self.symbols = questions, questions.symbols
        self.ranges: dict[str, Interval] = dict(self.symbols.ranges)
        self.multiples = {name: dim.multiple_of for name, dim in questions.program.dims.items()}
        self.bounds: dict[Node, tuple[int | None, int | None]] = {}
        self.facts: dict[Node, bool] = {}
        self.named: dict[tuple[str, Coordinates], bool] = {}

    def add(self, answer: Told) -> bool:
        """Take in an answer; False if it contradicts another one about the same at once."""
        question, at, threshold, value = answer
        at = at[: question.depth]
        tree = self.questions.tree_of(question)
        if isinstance(question, Fact):
            if tree is None:
                return self.named.setdefault((question.name, at), value) == value
            return self.facts.setdefault(self.placed(tree, at), value) == value
        if tree is None or threshold is None:
            return True
        tree = self.placed(tree, at)
        lo, hi = self.bounds.get(tree, (question.lo, question.hi))
        if value:
            lo = threshold + 1 if lo is None else max(lo, threshold + 1)
        else:
            hi = threshold if hi is None else min(hi, threshold)
        self.bounds[tree] = lo, hi
        return lo is None or hi is None or lo <= hi

    def placed(self, tree: Node, at: Coordinates) -> Node:
        """Return what a tree means at coordinates."""
        values: dict[str, Node] = {}
        tensors: dict[str, str] = {}
        indexed = {node.name for node in walk(tree) if isinstance(node, Index)}
        for name in free(tree):
            coordinate, depth = coordinate_of(name), self.symbols.depths.get(name, 0)
            if coordinate is not None and coordinate < len(at):
                values[name] = Int(at[coordinate])
            elif depth:
                own = f"{name} @ {', '.join(map(str, at[:depth]))}"
                self.ranges[own] = self.ranges.get(name, Interval())
                values[name], tensors[name] = Ref(own), own
        return replaced(tree, {n: v for n, v in values.items() if n not in indexed}, tensors)

    def parts(self) -> Iterator[list[Node]]:
        """Yield the conditions, apart where they have no name in common."""
        conditions: list[Node] = []
        for tree, (lo, hi) in self.bounds.items():
            if lo is not None:
                conditions.append(Compare((">=",), (tree, Int(lo))))
            if hi is not None:
                conditions.append(Compare(("<=",), (tree, Int(hi))))
        conditions += [tree if holds else Unary("not", tree) for tree, holds in self.facts.items()]
        conditions += self._known(frozenset().union(*map(free, conditions)) if conditions else frozenset())
        while conditions:
            part = [conditions.pop(0)]
            names = set(free(part[0]))
            grown = True
            while grown:
                near = [one for one in conditions if free(one) & names]
                conditions = [one for one in conditions if not free(one) & names]
                part += near
                grown = bool(near)
                for one in near:
                    names |= free(one)
            yield part if names else [Bool(all(value_at(one, {}) != 0 for one in part))]

    def _known(self, names: frozenset[str]) -> list[Node]:
        """Return what is known of these names: asserts, and the extents of tiles."""
        program = self.questions.program
        found = [program.flat(expr).tree for expr in program.spec.assert_]
        found = [tree for tree in found if free(tree) & names]
        for fact in self.questions.places.of_tile():
            for symbol in free(fact):
                own = [name for name in names if name.partition(" @ ")[0] == symbol and name != symbol]
                found += [replaced(fact, {symbol: Ref(name)}) for name in own]
        return found


def _contradict(conditions: Sequence[Node], group: _Group) -> bool:
    """Whether surely no values meet all conditions."""
    facts = [fact for fact in map(expression, map(multiplied, conditions)) if fact is not None]
    wide = [fact for fact in map(expression, conditions) if fact is not None]
    ways: list[list[Expr]] = [facts, wide]
    if len(facts) > 4:
        ways += [[facts[i], facts[j]] for i in range(min(8, len(facts))) for j in range(i)]
    return any(provably(_NEVER, group.ranges, way, group.multiples) is True for way in ways)


def _reads(node: Index | Call) -> bool:
    return isinstance(node, Index) or node.function == "find"


def _search(conditions: Sequence[Node], group: _Group) -> dict[str, int] | None:
    """Return the least values among those tried that meet all conditions."""
    names = sorted(frozenset().union(*map(free, conditions)))
    if not names or any(isinstance(node, Index) for one in conditions for node in walk(one)):
        return None
    room = max(2, min(_MOST_VALUES, round(_MOST_POINTS ** (1 / len(names)))))
    values = [
        _values(conditions, group.ranges.get(name, Interval()), group.multiples.get(name, 1))[:room]
        for name in names
    ]
    tried = sorted(product(*values), key=lambda point: sum(map(abs, point)))
    for point in tried[:_MOST_POINTS]:
        chosen = dict(zip(names, point, strict=True))
        if all(value_at(one, chosen) for one in conditions):
            return chosen
    return None


def _values(conditions: Sequence[Node], range_: Interval, factor: int) -> list[int]:
    """Return values worth trying for a name: small ones, and those at which a quotient or a bound turns."""
    numbers = {abs(node.value) for one in conditions for node in walk(one) if isinstance(node, Int)}
    large = sorted(number for number in numbers if 3 < number < 2**40)
    found = set(range(5))
    for number in large:
        found |= {number * times + more for times in range(1, 12) for more in (-1, 0, 1)}
        found |= {number * other for other in large}
    found |= {-value for value in found} if range_.lo < 0 else set()
    least = {-(-max(range_.lo, 0) // factor) * factor + factor * i for i in range(5)}
    kept = {value for value in found | least if value in range_ and value % factor == 0}
    return sorted(kept, key=lambda value: (abs(value), value < 0))
