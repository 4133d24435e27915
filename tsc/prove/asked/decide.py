"""Decides conditions for all values of their names, and notes the promises that a decision rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tsc.expr import Expr, Interval, interval, provably
from tsc.expr.intervals import truth
from tsc.expr.tree import Bool, Int, Node
from tsc.program.model import Program
from tsc.prove.asked.model import Promise
from tsc.prove.asked.quotients import multiplied
from tsc.prove.asked.samples import undecided
from tsc.prove.asked.scope import Scope
from tsc.prove.asked.symbols import INT32, Symbols, coordinate_of, expression, free, replaced

# Beyond so many conditions looked at, and so many proofs sought, a program gets answers from bounds alone:
# unknown is always right.
MOST_LOOKS, MOST_PROOFS = 400, 60


class Decider:
    """Answers what ranges, loops around and promises decide."""

    def __init__(self, program: Program, symbols: Symbols, dims: Mapping[str, Node]) -> None:
        self.program, self.symbols = program, symbols
        self.promises: dict[Promise, None] = {}
        self.looks = self.proofs = 0
        self._answers: dict[tuple[Node, tuple[Node, ...]], bool | None] = {}
        self._asserts = [
            (replaced(program.flat(expr).tree, dims), ("assert", i))
            for i, expr in enumerate(program.spec.assert_)
        ]
        self._multiples = {name: dim.multiple_of for name, dim in program.dims.items() if dim.multiple_of > 1}
        self._vouched = {
            name
            for name, dim in program.dims.items()
            if dim.multiple_of > 1 or dim.least > 0 or dim.interval.hi != INT32
        }

    def decide(self, condition: Node, scope: Scope, everywhere: bool = False) -> bool | None:
        """Decide a condition at a place, or say that it is not known.

        With `everywhere` loops around count only for conditions on their own values.
        """
        if isinstance(condition, Bool | Int):
            return bool(condition.value)
        names = set(free(condition))
        local = scope.facts
        if everywhere and not any(map(coordinate_of, names)):
            local = tuple(fact for fact in local if not any(map(coordinate_of, free(fact))))
        facts = _related([*local, *(tree for tree, _ in self._asserts)], names)
        key = (condition, tuple(facts))
        if key not in self._answers:
            self._answers[key] = self._decide(condition, facts, names, scope)
        return self._answers[key]

    def bounds(self, tree: Node, scope: Scope, most: int) -> tuple[int | None, int | None]:
        """Bound a number by what is known at a place; bounds farther from zero than `most` are left out."""
        ranges = self.symbols.ranges | scope.ranges
        found = self._bounds(tree, ranges, most)
        if self._trusted(free(tree)) and found != self._bounds(tree, self._unvouched(ranges), most):
            self._note(free(tree))
        return found

    def _bounds(self, tree: Node, ranges: Mapping[str, Interval], most: int) -> tuple[int | None, int | None]:
        expr = expression(tree)
        if expr is None:
            return None, None

        whole = interval(expr, ranges)
        lo = min(whole.lo, most) if whole.lo >= -most else None
        return lo, whole.hi if abs(whole.hi) <= most else None

    def _decide(self, condition: Node, facts: list[Node], names: set[str], scope: Scope) -> bool | None:
        ranges = self.symbols.ranges | scope.ranges
        answer = self._prove(condition, facts, ranges, self._multiples)
        vouched = self._trusted(names)
        asserted = [tree for tree, _ in self._asserts if tree in facts]
        if answer is None or not (vouched or asserted):
            return answer
        bare = [fact for fact in facts if fact not in asserted]
        if self._prove(condition, bare, self._unvouched(ranges), {}) is None:
            self._note(names)
        return answer

    def _prove(
        self,
        condition: Node,
        facts: Sequence[Node],
        ranges: Mapping[str, Interval],
        multiples: Mapping[str, int],
    ) -> bool | None:
        bound = truth(condition, ranges)
        if bound.lo == bound.hi:
            return bool(bound.lo)
        self.looks += 1
        if self.looks > MOST_LOOKS or undecided(condition, facts, ranges, multiples):
            return None
        self.proofs += 1
        asked = expression(multiplied(condition)) if self.proofs <= MOST_PROOFS else None
        if asked is None:
            return None
        known: list[Expr] = [fact for fact in map(expression, map(multiplied, facts)) if fact is not None]
        return provably(asked, ranges, known, multiples)

    def _unvouched(self, ranges: Mapping[str, Interval]) -> dict[str, Interval]:
        """Return ranges without those that promises about dims give."""
        kept = {name: range_ for name, range_ in ranges.items() if not name.startswith("loop:")}
        dims = self.program.dims
        kept |= {name: dims[name].unpromised for name in self._vouched}
        return kept | {share: dims[name].unpromised for share, name in self.symbols.shares.items()}

    def _trusted(self, names: set[str] | frozenset[str]) -> set[str]:
        """Return the dims of which something is promised, of those that these names or shares stand for."""
        return self._vouched & {self.symbols.shares.get(name, name) for name in names}

    def _note(self, names: set[str] | frozenset[str]) -> None:
        """Note the promises about these names."""
        for name in sorted(self._trusted(names)):
            for key in ("min", "max", "multiple_of"):
                model = self.program.spec.dims.get(name)
                written = getattr(model, key, None)
                if written is not None:
                    self.promise(f"`{name}` keeps to `{key}: {written.text}`", ("dims", name, key))
        for tree, route in self._asserts:
            if free(tree) <= names:
                self.promise(f"`{self.symbols.text(tree)}` holds", route)

    def vouch(self, dims: Iterable[str]) -> None:
        """Note that these dims are the multiples that they are promised to be."""
        for name in sorted(dims):
            model = self.program.spec.dims.get(name)
            if model is not None and model.multiple_of is not None:
                text = f"`{name}` keeps to `multiple_of: {model.multiple_of.text}`"
                self.promise(text, ("dims", name, "multiple_of"))

    def promise(self, text: str, route: tuple[str | int, ...]) -> None:
        """Note a promise."""
        self.promises.setdefault(Promise(text, route))


def _related(facts: Sequence[Node], names: set[str]) -> list[Node]:
    """Choose the facts that have to do with names, and with the names of such facts; add those names."""
    chosen: list[Node] = []
    rest = list(facts)
    grown = True
    while grown:
        near = [fact for fact in rest if free(fact) & names]
        rest = [fact for fact in rest if not free(fact) & names]
        chosen += near
        before = len(names)
        for fact in near:
            names |= free(fact)
        grown = len(names) > before
    return chosen
