"""Facts that follow a task's steps along every path, and round its loops until nothing is new."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from tsc.program.tree import Block, Guard, Loop, Node, Step, TileLoop

S = TypeVar("S")


class Forward(ABC, Generic[S]):
    """A walk over a tree with what is known at each place, of a type that `joined` makes no end of."""

    @abstractmethod
    def step(self, step: Step, state: S) -> S:
        """Return what is known behind a step."""

    @abstractmethod
    def joined(self, a: S, b: S) -> S:
        """Return what is known where two paths meet."""

    def block(self, block: Block, state: S) -> S:
        """Return what is known behind a block."""
        for node in block:
            state = self.node(node, state)
        return state

    def node(self, node: Node, state: S) -> S:
        """Return what is known behind a node; pieces of a loop follow one another."""
        match node:
            case Step():
                return self.step(node, state)
            case Guard():
                return self.joined(self.block(node.then, state), self.block(node.otherwise, state))
            case Loop():
                for piece in node.pieces:
                    state = self.repeated(piece.body, state)
                return state
            case TileLoop():
                return self.repeated(node.body, state)

    def repeated(self, body: Block, state: S) -> S:
        """Return what is known behind any number of rounds, none included."""
        while True:
            after = self.joined(state, self.block(body, state))
            if after == state:
                return state
            state = after
