"""Nodes of the expression language, and `Expr`: a tree with the text its places refer to.

Nodes compare by meaning: the character ranges (`start`, `end`) do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

MAX_LENGTH = 4096
MAX_DEPTH = 64

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

FUNCTIONS: Mapping[str, tuple[int, int | None]] = {
    "cdiv": (2, 2),
    "align": (2, 2),
    "min": (2, None),
    "max": (2, None),
    "abs": (1, 1),
    "find": (2, 2),
}
"""The functions of the language, with the fewest and the most arguments each takes."""


class ExprError(ValueError):
    """A text is no expression; `start` and `end` delimit the fault in it, `help` says the edit to make."""

    def __init__(self, message: str, start: int, end: int, help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.start = start
        self.end = end
        self.help = help


class EvalError(ValueError):
    """An expression has no value under an environment; the places refer to the expression's text."""

    def __init__(self, message: str, start: int, end: int, help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.start = start
        self.end = end
        self.help = help


@dataclass(frozen=True, slots=True)
class Int:
    """An integer literal, negative ones included."""

    value: int
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Bool:
    """`true` or `false`."""

    value: bool
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Ref:
    """A name, plain or of two parts (`tile.m`)."""

    name: str
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Index:
    """One element of an integer tensor: `table[i, j]`."""

    name: str
    args: tuple[Node, ...]
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x`, `+x` or `not x`."""

    op: str
    operand: Node
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """`+ - * // %` of two operands."""

    op: str
    left: Node
    right: Node
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Compare:
    """A chain of comparisons: n operators between n + 1 operands."""

    ops: tuple[str, ...]
    operands: tuple[Node, ...]
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Logic:
    """`and` or `or` of two operands or more."""

    op: str
    operands: tuple[Node, ...]
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Choice:
    """`then if test else other`."""

    test: Node
    then: Node
    other: Node
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of `FUNCTIONS`."""

    function: str
    args: tuple[Node, ...]
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


Node = Int | Bool | Ref | Index | Unary | Binary | Compare | Logic | Choice | Call


@dataclass(frozen=True, slots=True)
class Name:
    """One occurrence of a name in an expression's text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Expr:
    """An expression. Two are equal if their trees are, whatever their spacing and places."""

    text: str = field(compare=False)
    tree: Node
    names: tuple[Name, ...] = field(compare=False)

    @property
    def free(self) -> frozenset[str]:
        """The names it mentions, tensors included."""
        return frozenset(name.text for name in self.names)

    @property
    def indexed(self) -> frozenset[str]:
        """The names it reads as tensors: by a subscript, or as first argument of `find`."""
        return frozenset(tensors_of(self.tree))

    @property
    def calls(self) -> frozenset[str]:
        """The functions it calls."""
        return frozenset(node.function for node in walk(self.tree) if isinstance(node, Call))

    @property
    def value(self) -> int | bool | None:
        """Its value if it is a literal."""
        return self.tree.value if isinstance(self.tree, Int | Bool) else None

    @property
    def is_condition(self) -> bool:
        """Whether it gives a bool by its form alone."""
        return is_condition(self.tree)

    def __str__(self) -> str:
        """Give its text."""
        return self.text


def children(node: Node) -> tuple[Node, ...]:
    """Return the operands of a node, in the order of the text."""
    match node:
        case Int() | Bool() | Ref():
            return ()
        case Index() | Call():
            return node.args
        case Unary():
            return (node.operand,)
        case Binary():
            return (node.left, node.right)
        case Compare() | Logic():
            return node.operands
        case Choice():
            return (node.then, node.test, node.other)


def with_children(node: Node, operands: tuple[Node, ...]) -> Node:
    """Return the node with other operands, given in the order of `children`.

    A sign before a literal becomes part of the literal, as when a text is read.
    """
    match node, operands:
        case Unary(op="-"), (Int(value=value),) if value >= 0:
            return Int(-value, node.start, node.end)
    match node:
        case Int() | Bool() | Ref():
            return node
        case Index() | Call():
            return replace(node, args=operands)
        case Unary():
            return replace(node, operand=operands[0])
        case Binary():
            return replace(node, left=operands[0], right=operands[1])
        case Compare() | Logic():
            return replace(node, operands=operands)
        case Choice():
            return replace(node, then=operands[0], test=operands[1], other=operands[2])


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all below it, in the order of the text."""
    yield node
    for child in children(node):
        yield from walk(child)


def depth(node: Node) -> int:
    """Return the number of levels of a tree; a leaf has one."""
    return 1 + max((depth(child) for child in children(node)), default=0)


def is_condition(node: Node) -> bool:
    """Tell whether a node gives a bool by its form alone."""
    match node:
        case Bool() | Compare() | Logic():
            return True
        case Unary():
            return node.op == "not"
        case Choice():
            return is_condition(node.then) and is_condition(node.other)
        case _:
            return False


def names_of(tree: Node) -> tuple[Name, ...]:
    """List the occurrences of names in a tree, in the order of the text."""
    found = [
        Name(node.name, node.start, node.start + len(node.name) if isinstance(node, Index) else node.end)
        for node in walk(tree)
        if isinstance(node, Ref | Index)
    ]
    return tuple(sorted(found, key=lambda name: name.start))


def tensors_of(tree: Node) -> Iterator[str]:
    """Yield the names that a tree reads as tensors."""
    for node in walk(tree):
        if isinstance(node, Index):
            yield node.name
        elif isinstance(node, Call) and node.function == "find" and isinstance(node.args[0], Ref):
            yield node.args[0].name
