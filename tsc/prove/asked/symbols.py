"""The symbols of conditions and bounds: names of the language in the form in which tasks share them.

The value of the machine's loop with coordinate k is `loop:k` (the tile is coordinate 0 and the value
`tile.seq`); a value that only one task knows has a symbol of its own. No name of the language has a colon or
a blank, so they cannot meet.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from tsc.expr import Expr, Interval, build
from tsc.expr.printer import text_of
from tsc.expr.tree import Binary, Call, Index, Int, Node, Ref, children, with_children
from tsc.program.model import Program

TILE = "tile.seq"
THREAD_NAMES = frozenset(("thread", "warp", "lane"))
INT32 = 2**31 - 1

WIDTHS = {
    "i32": Interval(-(2**31), INT32),
    "u32": Interval(0, 2**32 - 1),
    "i8": Interval(-128, 127),
    "u8": Interval(0, 255),
    "bool": Interval(0, 1),
}


def loop_symbol(coordinate: int) -> str:
    """Return the symbol of the value of the loop with this coordinate."""
    return f"loop:{coordinate}" if coordinate else TILE


def coordinate_of(symbol: str) -> int | None:
    """Return the coordinate whose value a symbol is."""
    if symbol == TILE:
        return 0
    head, _, tail = symbol.partition(":")
    return int(tail) if head in ("loop", "iter", "trips") and tail else None


@lru_cache(maxsize=8192)
def free(node: Node) -> frozenset[str]:
    """Return the names in a tree, tensors included."""
    own = {node.name} if isinstance(node, Ref | Index) else ()
    return frozenset(own).union(*map(free, children(node)))


def replaced(node: Node, values: Mapping[str, Node], tensors: Mapping[str, str] | None = None) -> Node:
    """Put trees in the place of names, and other names in the place of tensors' names."""
    renamed = tensors or {}
    match node:
        case Ref(name=name):
            return values.get(name, node)
        case Index(name=name, args=args):
            return Index(renamed.get(name, name), tuple(replaced(arg, values, renamed) for arg in args))
        case Call(function="find", args=(Ref(name=name), sought)):
            return Call("find", (Ref(renamed.get(name, name)), replaced(sought, values, renamed)))
        case _:
            parts = tuple(replaced(child, values, renamed) for child in children(node))
            return with_children(node, parts) if parts else node


@dataclass
class Symbols:
    """What is known of symbols: on how many coordinates each depends, and between which bounds it lies."""

    program: Program
    depths: dict[str, int] = field(default_factory=dict)
    ranges: dict[str, Interval] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)  # how a message writes the value of a loop
    local: set[str] = field(default_factory=set)  # those that differ between the CTAs of a cluster
    shares: dict[str, str] = field(default_factory=dict)  # symbols of what a dim is a multiple of: the dim
    _private: dict[Hashable, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin with the names that the whole program shares."""
        self.ranges |= self.program.ranges
        if self.program.queue is not None:
            self.depths |= {f"tile.{axis}": 1 for axis, _ in self.program.queue.axes}

    def unit(self, axis: str, size: int) -> Ref:
        """Return the symbol of a tile coordinate in clusters."""
        whole = self.program.ranges.get(f"tile.{axis}", Interval(0))
        range_ = Interval(0, max(0, whole.hi) // size)
        return self.own(("unit", axis), f"tile.{axis} // {size}", 1, range_, local=True)

    def multiple(self, dim: str, factor: int) -> Node:
        """Return a dim that is a multiple of a factor, as the product of it and a symbol."""
        whole = self.program.ranges.get(dim, Interval(0))
        range_ = Interval(-(-whole.lo // factor), whole.hi // factor)
        share = self.own(("share", dim), f"{dim} // {factor}", 0, range_)
        self.shares[share.name] = dim
        return Binary("*", Int(factor), share)

    def own(
        self, key: Hashable, text: str, depth: int, range_: Interval | None = None, local: bool = False
    ) -> Ref:
        """Return the symbol with this key, whatever its text; texts of different keys are told apart."""
        if key not in self._private:
            name, number = text, 1
            while name in self.depths or name in self.ranges:
                number += 1
                name = f"{text} ({number})"
            self._private[key] = name
            self.depths[name] = depth
            self.ranges[name] = range_ if range_ is not None else Interval()
            if local:
                self.local.add(name)
        return Ref(self._private[key])

    def depth(self, names: Iterable[str]) -> int:
        """Return how many coordinates decide over the values of all these names."""
        deepest = 0
        for name in names:
            coordinate = coordinate_of(name)
            deepest = max(deepest, self.depths.get(name, 0) if coordinate is None else coordinate + 1)
        return deepest

    def text(self, node: Node) -> str:
        """Write a tree for a reader: the values of loops by the names that the author gave them."""
        return text_of(replaced(node, {name: Ref(shown) for name, shown in self.shown.items()}))


def expression(node: Node) -> Expr | None:
    """Make an expression of a tree, if it is not too large for one."""
    try:
        return build(node)
    except ValueError:
        return None
