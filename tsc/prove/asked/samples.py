"""Values tried out: conditions that hold at one point and not at another need no proof."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from tsc.expr import EvalError, Expr, Interval, evaluate
from tsc.expr.tree import Call, Index, Node, Ref, children, with_children
from tsc.prove.asked.symbols import free

_STEPS = (0, 1, 2, 3, 5, 8, 64, 130, 1000)
_POINTS = 24


def value_at(node: Node, values: Mapping[str, int]) -> int | None:
    """Return the value of a tree, nothing where it has none."""
    try:
        return int(evaluate(Expr("", node, ()), values))
    except EvalError:
        return None


def undecided(
    condition: Node,
    facts: Sequence[Node],
    ranges: Mapping[str, Interval],
    multiples: Mapping[str, int],
) -> bool:
    """Whether a condition holds at one of a few points at which the facts hold, and does not at another."""
    opener = _Opener()
    asked, known = opener.open(condition), [opener.open(fact) for fact in facts]
    seen: set[bool] = set()
    for point in points(sorted(set().union(*map(free, (asked, *known)))), ranges, multiples):
        value = value_at(asked, point)
        if value is not None and bool(value) not in seen and all(value_at(fact, point) for fact in known):
            seen.add(bool(value))
            if len(seen) == 2:
                return True
    return False


def points(
    names: Sequence[str], ranges: Mapping[str, Interval], multiples: Mapping[str, int]
) -> Iterator[dict[str, int]]:
    """Yield a few points: names near their least values, all alike at first and then at random."""
    random = Random(len(names))
    for number in range(len(_STEPS) + _POINTS):
        steps = [_STEPS[number] if number < len(_STEPS) else random.choice(_STEPS) for _ in names]
        point = {}
        for name, step in zip(names, steps, strict=True):
            range_, factor = ranges.get(name, Interval()), multiples.get(name, 1)
            least = range_.lo if range_.lo > -(2**31) else 0
            least = -(-least // factor) * factor
            point[name] = min(least + step * factor, range_.hi)
        yield point


class _Opener:
    """Puts names in the place of elements of tensors; equal elements get one name."""

    def __init__(self) -> None:
        self.names: dict[Node, str] = {}

    def open(self, node: Node) -> Node:
        if isinstance(node, Index) or (isinstance(node, Call) and node.function == "find"):
            return Ref(self.names.setdefault(node, f"element {len(self.names)}"))
        parts = tuple(map(self.open, children(node)))
        return with_children(node, parts) if parts else node
