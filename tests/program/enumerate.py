"""Runs of a schedule, one after the other: what a walker over all paths is held against.

A run has a value for each dim, and is the schedule executed word by word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from tsc.expr import Expr, evaluate
from tsc.program.model import Program, Task
from tsc.program.tree import Block, Guard, Loop, Step, TileLoop

S = TypeVar("S")

# Flat forms by the identity of the expression and its environment, which stay alive here.
_FLAT: dict[tuple[int, int], tuple[Expr, Expr, Mapping[str, int | bool]]] = {}


class Run:
    """One execution; `values` of dims and scalars, `tiles` for each tile loop."""

    def __init__(
        self,
        program: Program,
        task: Task,
        transfer: Callable[[Step, S], S],
        values: Mapping[str, int],
        tiles: int,
    ) -> None:
        self.program, self.task, self.transfer = program, task, transfer
        self.values, self.tiles = dict(values), tiles

    def run(self, state: S) -> S:
        return self._block(self.task.tree, state, {}, None)

    def _value(self, expr: Expr, env: Mapping[str, int | bool], local: Mapping[str, int]) -> int:
        key = (id(expr), id(env))
        if key not in _FLAT:
            _FLAT[key] = (self.program.flat(expr, env), expr, env)
        return int(evaluate(_FLAT[key][0], {**self.values, **local}))

    def _block(self, block: Block, state: S, local: dict[str, int], now: tuple[int, int] | None) -> S:
        for node in block:
            state = self._node(node, state, local, now)
        return state

    def _node(self, node: object, state: S, local: dict[str, int], now: tuple[int, int] | None) -> S:
        match node:
            case Step():
                return state if node.derived else self.transfer(node, state)
            case TileLoop():
                for seq in range(self.tiles):
                    inner = {**local, "tile.row": seq * 3 % 4, "tile.seq": seq}
                    state = self._block(node.body, state, inner, None)
                return state
            case Loop():
                return self._loop(node, state, local)
            case Guard():
                return self._guard(node, state, local, now)
        raise TypeError(node)

    def _loop(self, node: Loop, state: S, local: dict[str, int]) -> S:
        start, end, step = (self._value(e, node.env, local) for e in (node.start, node.end, node.step))
        cuts = [self._value(p.until, node.env, local) for p in node.pieces if p.until is not None]
        values, piece = range(start, end, step), 0
        for number, value in enumerate(values):
            while piece < len(cuts) and (value >= cuts[piece] if step > 0 else value <= cuts[piece]):
                piece += 1
            inner = {**local, node.variable: value, "iter": number, "trips": len(values)}
            state = self._block(node.pieces[piece].body, state, inner, (number, len(values)))
        return state

    def _guard(self, node: Guard, state: S, local: dict[str, int], now: tuple[int, int] | None) -> S:
        if node.kind == "when" and node.condition is not None:
            taken = bool(self._value(node.condition, node.env, local))
            return self._block(node.then if taken else node.otherwise, state, local, now)
        assert now is not None
        number, trips = now
        since = number - (node.start or 0)
        runs = {
            "first_iter": number == 0,
            "last_iter": number == trips - 1,
            "every": since >= 0 and node.period is not None and since % node.period == 0,
        }[node.kind]
        return self._block(node.then, state, local, now) if runs else state
