"""Every round of random schedules by the rules of the language, with what the questions make of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.program.build import program
from tsc.expr import EvalError, Expr, evaluate
from tsc.expr.tree import Node
from tsc.program.model import Program, Task
from tsc.program.tree import Block, Guard, Loop, Step, TileLoop
from tsc.prove.asked import Around, Questions
from tsc.prove.asked.symbols import free
from tsc.prove.machine import All, Ask, Bound, Exceeds, InRounds, Test
from tsc.prove.verdict import Answer
from tsc.spec.schedule import Do, Skip

# ---- every round of a schedule, by the rules of the language -----------------------------------------------


class Element:
    """A tensor, or what a work returns for arguments: any value, but always the same."""

    def __init__(self, name: str, most: int) -> None:
        self.name, self.most = name, most

    def __getitem__(self, index: Any) -> int:
        return hash((len(self.name), index)) % self.most


@dataclass
class Launch:
    """One launch as one CTA sees it: sizes, the tiles that it gets, its place in the cluster."""

    found: Program
    values: dict[str, Any]
    tiles: list[dict[str, int]]
    rank: dict[str, int]


@dataclass
class Now:
    """Where a task stands: the values of names as the author knows them, and the machine's values."""

    names: dict[str, Any]
    loops: list[tuple[Around, int, int]] = field(default_factory=list)  # value, round


class Visitor:
    """Walks a task round by round, and holds what the questions say against what is."""

    def __init__(self, questions: Questions, launch: Launch, seen: dict[Any, int]) -> None:
        self.questions, self.launch, self.seen = questions, launch, seen
        self.checked = 0
        self.asked: dict[Any, Any] = {}
        self.trail: list[Answer] | None = None
        self.random = Random(0)

    def once(self, ask: Callable[..., Any], task: Task, node: Any, above: tuple[Around, ...]) -> Any:
        """Ask a question when a node is met first; later rounds get the same answer."""
        key = (task.label, id(node), ask)
        if key not in self.asked:
            self.asked[key] = ask(task, node, above, self.launch.rank)
        return self.asked[key]

    def value(self, expr: Expr, env: Mapping[str, Any], now: Now) -> int:
        flat = self.launch.found.flat(expr, env)
        return int(evaluate(flat, {**self.launch.values, **now.names, **env}))

    def task(self, task: Task) -> None:
        env = {**{f"cluster.{axis}": place for axis, place in self.launch.rank.items()}}
        self.block(task, task.tree, Now(env))

    def block(self, task: Task, block: Block, now: Now) -> None:
        for node in block:
            match node:
                case TileLoop():
                    self.tile_loop(task, node, now)
                case Loop():
                    self.loop(task, node, now)
                case Guard():
                    self.guard(task, node, now)
                case Step(model=Do(do=work, with_=given, out=out)):
                    values = tuple(self.value(expr, node.env, now) for expr in given.values())
                    made = Element(f"{work}.r", 5)[values if values else (0,)]
                    now.names.update(dict.fromkeys(out, made))
                case Step(model=Skip(count=count)):
                    bound = self.questions.count(task, count, node, around(now), self.launch.rank)
                    assert self.bound(bound, now) == self.value(count, node.env, now)

    def tile_loop(self, task: Task, node: TileLoop, now: Now) -> None:
        bound = self.questions.tiles(task, node)
        here = Around(node, 0, 1, bound)
        for t, tile in enumerate(self.launch.tiles):
            names = {f"tile.{axis}": value for axis, value in tile.items()} | {"tile.seq": t}
            inside = Now({**now.names, **names}, [*now.loops, (here, t, t)])
            if node.skip_if is not None:
                test = self.once(self.questions.skip, task, node, around(inside))
                assert self.holds(test, inside) == bool(self.value(node.skip_if, node.env, inside))
            self.block(task, node.body, inside)
            now.names.update({k: v for k, v in inside.names.items() if k not in names})

    def loop(self, task: Task, node: Loop, now: Now) -> None:
        start, end, step = (self.value(expr, node.env, now) for expr in (node.start, node.end, node.step))
        values = list(range(start, end, step))
        here = self.once(self.questions.loop, task, node, around(now))
        most = self.bound(here.bound, now)
        machine = list(range(here.start, max(here.start, most), here.step))
        assert len(machine) == len(values)
        cuts = [self.value(p.until, node.env, now) for p in node.pieces if p.until is not None]
        for round_, (value, own) in enumerate(zip(values, machine, strict=True)):
            names = {node.variable: value, "iter": round_, "trips": len(values)}
            inside = Now({**now.names, **names}, [*now.loops, (here, own, round_)])
            part = next(
                (p for p, cut in enumerate(cuts) if (value < cut if step > 0 else value > cut)), len(cuts)
            )
            if node.split:
                tests = self.once(self.questions.pieces, task, node, around(inside))
                assert [self.holds(test, inside) for test in tests] == [p == part for p in range(len(tests))]
            self.block(task, node.pieces[part].body, inside)
            now.names.update({k: v for k, v in inside.names.items() if k not in names})

    def guard(self, task: Task, node: Guard, now: Now) -> None:
        test = self.once(self.questions.guard, task, node, around(now))
        iter_, trips = now.names.get("iter", 0), now.names.get("trips", 1)
        if node.kind == "first_iter":
            taken = iter_ == 0
        elif node.kind == "last_iter":
            taken = iter_ == trips - 1
        elif node.kind == "every":
            since = iter_ - (node.start or 0)
            taken = since >= 0 and since % (node.period or 1) == 0
        else:
            assert node.condition is not None
            taken = bool(self.value(node.condition, node.env, now))
        assert self.holds(test, now) == taken, (node.condition, test, now.names)
        self.checked += 1
        self.block(task, node.then if taken else node.otherwise, now)

    # ---- the machine's side --------------------------------------------------------------------------------

    def at(self, now: Now) -> tuple[int, ...]:
        values = [value for _, value, _ in now.loops]
        tiled = bool(now.loops) and isinstance(now.loops[0][0].node, TileLoop)
        return tuple(values) if tiled else (-1, *values)

    def symbols(self, now: Now) -> dict[str, Any]:
        """Give the symbols of questions the values that they stand for."""
        at = self.at(now)
        env: dict[str, Any] = {**self.launch.values, **now.names}
        env |= {f"loop:{i}": value for i, value in enumerate(at) if i}
        env["tile.seq"], env["tiles"] = at[0], len(self.launch.tiles)
        for axis, size in self.launch.found.cluster:
            if size > 1:
                env[f"tile.{axis} // {size}"] = now.names.get(f"tile.{axis}", 0) // size
        for name, dim in self.questions.symbols.shares.items():
            env[name] = self.launch.values[dim] // self.launch.found.dims[dim].multiple_of
        env |= {f"w{i}.r": Element(f"w{i}.r", 5) for i in range(2)}
        return env

    def meant(self, tree: Node, now: Now) -> int:
        symbols = self.symbols(now)
        # A value that only one task knows is what the task has at this moment.
        symbols |= {name: now.names["tok"] for name in free(tree) if name.startswith("tok in ")}
        assert free(tree) <= symbols.keys(), tree
        return int(evaluate(Expr("", tree, ()), symbols))

    def number(self, index: int, now: Now, depth: int) -> int:
        number, tree = self.questions.numbers[index], self.questions.store.number_trees[index]
        assert number.depth <= depth
        value = int(self.meant(tree, now))
        at = self.at(now)[: number.depth]
        if self.trail is not None:
            tried = value + self.random.randint(-2, 1)
            self.trail.append(Answer(index, at, tried, value > tried))
        # One answer for each value of the loops on which it depends, whoever asks.
        assert self.seen.setdefault(("number", index, at), value) == value, number
        return value

    def bound(self, bound: Bound, now: Now, up: int | None = None) -> int:
        if bound.number is None:
            return bound.offset
        coordinates = len(self.at(now))
        depth = coordinates if up is None else coordinates - 1 - up
        return bound.scale * self.number(bound.number, now, depth) + bound.offset

    def holds(self, test: Test, now: Now) -> bool:
        match test:
            case All():
                return all([self.holds(one, now) for one in test.tests]) == test.value
            case Ask():
                fact, tree = self.questions.facts[test.fact], self.questions.store.fact_trees[test.fact]
                assert tree is not None
                value = bool(self.meant(tree, now))
                at = self.at(now)[: fact.depth]
                if self.trail is not None:
                    self.trail.append(Answer(test.fact, at, None, value))
                assert self.seen.setdefault(("fact", test.fact, at), value) == value, fact
                return value == test.value
            case InRounds():
                round_ = now.loops[-1 - test.up][2]
                past = round_ - len(test.head)
                return test.head[round_] if past < 0 else test.cycle[past % len(test.cycle)]
            case Exceeds(up=None):
                return (self.bound(test.bound, now) > test.beyond) == test.value
            case Exceeds():
                assert test.up is not None
                than = now.loops[-1 - test.up][1] + test.beyond
                return (self.bound(test.bound, now, test.up) > than) == test.value


def around(now: Now) -> tuple[Around, ...]:
    return tuple(here for here, _, _ in now.loops)


def launches(found: Program, sizes: dict[str, Any]) -> Iterator[Launch]:
    """Yield a launch for each CTA of a cluster, which has all tiles to itself."""
    values = {**sizes, "t": Element("t", 7), "sms": 132}
    cluster = dict(found.cluster)
    places: list[dict[str, int]] = [{}]
    for axis, size in cluster.items():
        places = [{**place, axis: i} for place in places for i in range(size)]
    axes = found.queue.axes if found.queue is not None else ()
    units: list[dict[str, int]] = [{}]
    for axis, extent in axes:
        count = -(-int(evaluate(extent, values)) // cluster.get(axis, 1))
        units = [{**unit, axis: i} for unit in units for i in range(count)]
    for place in places:
        tiles = [
            {axis: unit[axis] * cluster.get(axis, 1) + place.get(axis, 0) for axis, _ in axes}
            for unit in units
        ]
        yield Launch(found, values, tiles, place)


def compare(found: Program, sizes: dict[str, Any]) -> int:
    """Check every round of every task of one launch; how many conditions there were."""
    questions, seen, checked = Questions(found), {}, 0
    if any(v < 1 for v in (sizes["n"], sizes["m"])) and found.queue is not None:
        return 0
    for launch in launches(found, sizes):
        for task in found.tasks:
            visitor = Visitor(questions, launch, seen)
            try:
                visitor.task(task)
            except EvalError:
                continue
            checked += visitor.checked
    for i, number in enumerate(questions.numbers):
        values = [value for key, value in seen.items() if key[:2] == ("number", i)]
        assert all(number.lo is None or value >= number.lo for value in values), number
        assert all(number.hi is None or value <= number.hi for value in values), number
    return checked


# ---- at random ---------------------------------------------------------------------------------------------

LAUNCH = ("n", "m", "a", "3", "0", "1", "2", "K", "half")
TILE = ("tile.r", "tile.c", "tile.seq", "t[tile.r]", *LAUNCH)
ROUND = ("iter", "loop", "iter", "loop", "trips", "trips - 1", "t[iter]", "tok")
INNER = ("iter", "loop", "trips", "j", "j", "t[j]")
STARTS = ("0", "0", "1", "replica", "m - 1", "a", "tile.r", "2 * replica")
STEPS = ("1", "1", "2", "-1", "3")
FORMS = (
    "({0} + {1})",
    "({0} - {1})",
    "{2} * ({0})",
    "({0}) // {2}",
    "({0}) % {2}",
    "cdiv({0}, 3)",
    "min({0}, {1})",
    "max({0}, {1})",
    "({0} if {1} > {0} else {1})",
    "abs({0})",
)


class Maker:
    """Makes schedules at random."""

    def __init__(self, random: Random, tiled: bool) -> None:
        self.random, self.tiled = random, tiled
        self.base = TILE if tiled else LAUNCH
        self.starts = [start for start in STARTS if tiled or "tile" not in start]

    def integer(self, names: Sequence[str], depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.4:
            return self.random.choice(names)
        a, b = self.integer(names, depth - 1), self.integer(names, depth - 1)
        return self.random.choice(FORMS).format(a, b, self.random.choice((2, 3, 4, -2)))

    def condition(self, names: Sequence[str]) -> str:
        match self.random.randrange(8):
            case 0:
                return self.random.choice(("flag", "not flag", "flag == 1"))
            case 1:
                return f"not {self.condition(names)}"
            case 2:
                return f"({self.condition(names)} and {self.condition(names)})"
            case 3:
                return f"({self.condition(names)} or {self.condition(names)})"
        op = self.random.choice(("<", "<=", ">", ">=", "==", "!="))
        return f"({self.integer(names)} {op} {self.integer(names, 1)})"

    def guard(self, names: Sequence[str], inside: bool) -> Any:
        body = ["task_sync"]
        match self.random.randrange(9 if inside else 6):
            case 6:
                return {"first_iter": body}
            case 7:
                return {"last_iter": body}
            case 8:
                return {"every": self.random.randint(1, 3), "start": self.random.randint(0, 2), "body": body}
            case 5:
                return {"when_false": self.condition(names), "body": body}
        return {"when": self.condition(names), "then": body}

    def body(self, names: Sequence[str], inside: bool, nested: bool = False) -> list[Any]:
        found = [self.guard(names, inside) for _ in range(self.random.randint(1, 2))]
        if nested and self.random.random() < 0.5:
            inner = [*names, *INNER] if inside else [*names, *(n for n in INNER if n != "loop")]
            found.append(
                {
                    "for": self.integer(names, 1),
                    "start": self.random.choice(self.starts),
                    "step": self.random.choice(STEPS),
                    "as": "j",
                    "body": self.body(inner, True),
                }
            )
        return found

    def schedule(self) -> list[Any]:
        pick = self.random
        loop: dict[str, Any] = {
            "domain_loop": self.integer(self.base, 1),
            "start": pick.choice(self.starts),
            "step": pick.choice(STEPS),
        }
        if pick.random() < 0.4:
            loop["split_at"] = [self.integer(self.base, 1) for _ in range(pick.randint(1, 2))]
        token = {"do": pick.choice(("w0", "w1")), "with": {"i": pick.choice(self.base)}, "out": ["tok"]}
        again = [token] if pick.random() < 0.5 else []
        loop["body"] = [*again, *self.body((*self.base, *ROUND), True, True)]
        block = [token, *self.body((*self.base, "tok"), False, True), loop]
        block += self.body((*self.base, "tok"), False)
        if not self.tiled:
            return block
        return [{"work_tile_loop": "tiles", "skip_if": self.condition(self.base), "body": block}]


SPEC = """
constants: {{K: 4}}
params:
  x: {{dtype: f32, shape: [n, m]}}
  t: {{dtype: i32, shape: [q]}}
  a: {{dtype: i32}}
  flag: {{dtype: bool}}
dims: {{m: {{min: 1}}, n: {{multiple_of: {multiple}}}}}
let: {{half: "cdiv(n, 2)"}}
launch: {{{launch}}}
resources: {{{queue}}}
work:
  w0: {{args: {{i: i32}}, returns: {{r: i32}}, reads: [t], cuda: "r = t(i);"}}
  w1: {{args: {{i: i32}}, returns: {{r: i32}}, reads: [t], cuda: "r = t(i);"}}
tasks:
  one: {{warps: 1, replicas: 2, schedule: {first}}}
  two: {{warps: 1, replicas: 1, schedule: {second}}}
"""


def at_random(seed: int) -> tuple[Program, list[dict[str, Any]]]:
    """Make a program and sizes to launch it with."""
    random = Random(seed)
    tiled, multiple = random.random() < 0.6, random.choice((1, 2))
    first, second = Maker(random, tiled).schedule(), Maker(random, tiled).schedule()
    found = program(
        SPEC.format(
            first=json.dumps(first),
            second=json.dumps(second),
            queue="tiles: {kind: queue, policy: static, axes: {r: m, c: n}}" if tiled else "",
            launch=random.choice(("", "cluster: {r: 2}")) if tiled else "grid: [1]",
            multiple=multiple,
        )
    )
    sizes = [
        {
            "n": random.randint(1, 4) * multiple,
            "m": random.randint(1, 3),
            "a": random.randint(-2, 5),
            "flag": random.random() < 0.5,
        }
        for _ in range(3)
    ]
    return found, sizes
