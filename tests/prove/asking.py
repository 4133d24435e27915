"""Small programs and everything that they ask."""

from __future__ import annotations

from collections.abc import Mapping

from tests.program.build import program
from tsc.program.model import Program, Task
from tsc.program.tree import Block, Guard, Loop, TileLoop
from tsc.prove.asked import Around, Questions
from tsc.prove.machine import Bound, Test

HEAD = """
params:
  x: {{dtype: f32, shape: [n, m, k]}}
  t: {{dtype: i32, shape: [q]}}
  mode: {{dtype: i32}}
{extra}
resources:
  last: {{kind: registers, dtype: bool, per_thread: 1}}
{queue}
"""
QUEUE = "  tiles: {{kind: queue, policy: {policy}, axes: {{r: m, c: n}}}}"
WORKS = """
work:
  pure: {args: {i: i32}, returns: {r: i32}, reads: [t], cuda: "r = t(i);"}
  here: {returns: {r: i32}, reads: [t], cuda: "r = t(tile.r);"}
  own: {returns: {r: i32}, writes: [x], cuda: "r = 1;"}
  vote: {writes: [last], cuda: "last = true;"}
"""


def asked(tasks: str, extra: str = "launch: {grid: [1]}", queue: str = "", works: bool = False) -> Asked:
    text = HEAD.format(extra=extra, queue=queue) + (WORKS if works else "") + "tasks: {" + tasks + "}"
    return Asked(program(text))


def queued(tasks: str, extra: str = "", policy: str = "static", works: bool = False) -> Asked:
    return asked(tasks, extra, QUEUE.format(policy=policy), works)


def task(name: str, *nodes: str, more: str = "") -> str:
    return f"{name}: {{warps: 1, {more} schedule: [{', '.join(nodes)}]}}"


def loop(end: str, *body: str, more: str = "") -> str:
    return f'{{domain_loop: "{end}", {more} body: [{", ".join(body or ("task_sync",))}]}}'


def when(condition: str, more: str = "") -> str:
    return f'{{when: "{condition}", {more} then: [task_sync]}}'


class Asked:
    """Everything that a program asks, in the order of the text."""

    def __init__(self, found: Program, rank: Mapping[str, int] | None = None) -> None:
        self.found, self.questions, self.rank = found, Questions(found), rank or {}
        self.loops: list[Around] = []
        self.tests: list[Test] = []
        self.again(self.rank)

    def again(self, rank: Mapping[str, int]) -> list[Test]:
        """Ask as the CTA at another place of the cluster."""
        self.rank, self.tests, self.loops = rank, [], []
        for one in self.found.tasks:
            self.block(one, one.tree, ())
        return self.tests

    def block(self, one: Task, block: Block, above: tuple[Around, ...]) -> None:
        for node in block:
            match node:
                case TileLoop():
                    here = Around(node, 0, 1, self.questions.tiles(one, node))
                    self.loops.append(here)
                    self.block(one, node.body, (*above, here))
                case Loop():
                    here = self.questions.loop(one, node, above, self.rank)
                    self.loops.append(here)
                    if node.split:
                        self.tests += self.questions.pieces(one, node, (*above, here), self.rank)
                    self.block(one, node.pieces[0].body, (*above, here))
                case Guard():
                    self.tests.append(self.questions.guard(one, node, above, self.rank))
                    self.block(one, node.then, above)

    @property
    def bounds(self) -> list[Bound]:
        return [one.bound for one in self.loops]

    @property
    def promises(self) -> set[str]:
        return {promise.text for promise in self.questions.promises}
