"""The nodes of the array notation, each with the characters it stands at, and the functions there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["each", "row", "where"]

FUNCTIONS: Final[Mapping[str, Kind]] = {
    "softmax": "each",
    "causal": "each",
    "relu": "each",
    "gelu": "each",
    "silu": "each",
    "sigmoid": "each",
    "tanh": "each",
    "exp": "each",
    "rsqrt": "each",
    "max": "row",
    "mean": "row",
    "sum": "row",
    "where": "where",
}
"""What becomes of the shape: kept (`each`), its last extent made 1 (`row`), or that of three operands."""

COMPARISONS: Final = frozenset({"<", "<=", ">", ">=", "==", "!="})


class NotationError(Exception):
    """A text that is no reference; the place is a range of characters of the text."""

    def __init__(self, message: str, start: int, end: int, help: str = "") -> None:
        super().__init__(message)
        self.message, self.start, self.end, self.help = message, start, end, help


@dataclass(frozen=True, slots=True)
class Number:
    """A literal."""

    value: float
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Ref:
    """A param, a dim or a constant by its name."""

    name: str
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Minus:
    """Its operand with the sign changed."""

    operand: Node
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Swapped:
    """`.T` of a matrix, `.mT` of the last two dimensions of any array."""

    operand: Node
    suffix: Literal["T", "mT"]
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Binary:
    """Two operands joined by `@ + - * /` or a comparison."""

    op: str
    left: Node
    right: Node
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """A function of FUNCTIONS; an axis that was written is checked and left out."""

    function: str
    args: tuple[Node, ...]
    start: int = 0
    end: int = 0


Node: TypeAlias = Number | Ref | Minus | Swapped | Binary | Call


def children(node: Node) -> tuple[Node, ...]:
    """The operands of a node, in order."""
    match node:
        case Minus(operand=operand) | Swapped(operand=operand):
            return (operand,)
        case Binary(left=left, right=right):
            return (left, right)
        case Call(args=args):
            return args
        case _:
            return ()


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all below it."""
    yield node
    for child in children(node):
        yield from walk(child)


def names(node: Node) -> tuple[Ref, ...]:
    """The names of a reference, in the order of the text."""
    return tuple(one for one in walk(node) if isinstance(one, Ref))
