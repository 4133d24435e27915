"""Makes faulty schedules out of a right one: single changes of steps, counts and bounds, and pairs of them.

A change is one that an author may make by mistake. What is never changed alone is what the spec
computes: a step that writes a result is neither dropped nor guarded (nothing is wrong with a schedule
that copies less), a load of registers is not guarded (they may keep a value), no two bounds are moved
together, and no two steps of one task are guarded (that may leave a whole fill out).
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import yaml

Path = tuple[str | int, ...]
Change = Callable[[Any], None]
"""Changes a document in place."""

LOOPS = ("work_tile_loop", "domain_loop", "for")
BODIES = ("body", "then", "else", "first_iter", "last_iter", "skippable")
RESULTS = frozenset({"tma_store", "bulk_store", "store"})
"""Steps that write a result."""
KEPT = RESULTS | {"load"}
"""Steps that are never guarded."""
BOUNDS = frozenset({"bound"})
Guards = tuple[tuple[str, Callable[[Any], Any]], ...]
BY_ROUND: Guards = (
    ("when: iter > 0", lambda step: {"when": "iter > 0", "then": [step]}),
    ("first_iter", lambda step: {"first_iter": [step]}),
    ("last_iter", lambda step: {"last_iter": [step]}),
    ("every: 2", lambda step: {"every": 2, "body": [step]}),
)
BY_TILE: Guards = (("when: tile.m > 0", lambda step: {"when": "tile.m > 0", "then": [step]}),)
INSIDE: dict[str, Guards] = {"work_tile_loop": BY_TILE, "domain_loop": BY_ROUND, "for": BY_ROUND}


def bound(edit: Callable[..., object], *arguments: Any) -> Change:
    """Return a change that calls `edit` with the document and these arguments."""

    def change(data: Any) -> None:
        edit(data, *arguments)

    return change


@dataclass(frozen=True, slots=True)
class Mutation:
    """One change: its sort, what it does in words, how it is made, and the task whose guards it changes."""

    sort: str
    words: str
    change: Change
    task: str = ""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed spec. `name` is unique, `spec` the spec it was made from, `text` its whole text."""

    name: str
    spec: str
    sort: str
    words: str
    text: str


class _Text(yaml.SafeDumper):
    """Writes snippets as blocks, so that a mutant reads like a spec."""


def _string(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Text.add_representer(str, _string)


def written(data: Any) -> str:
    """Return a document as YAML."""
    return yaml.dump(data, Dumper=_Text, sort_keys=False, width=110, default_flow_style=None)


def at(data: Any, path: Path) -> Any:
    """Return what stands at a path."""
    for key in path:
        data = data[key]
    return data


def verb(step: Any) -> str:
    """Return the word that a step is known by: its first key."""
    return step if isinstance(step, str) else str(next(iter(step)))


def shown(step: Any) -> str:
    """Return a step in few words."""
    return step if isinstance(step, str) else f"{verb(step)}: {step[verb(step)]}"


def blocks(data: Any) -> Iterator[tuple[Path, Guards]]:
    """Yield each block of each schedule and the guards that make sense in it."""

    def inside(path: Path, known: Guards) -> Iterator[tuple[Path, Guards]]:
        yield path, known
        for i, step in enumerate(at(data, path)):
            if isinstance(step, dict):
                own = INSIDE.get(verb(step), known)
                for key in BODIES:
                    if isinstance(step.get(key), list):
                        yield from inside((*path, i, key), own)

    for task in data["tasks"]:
        yield from inside(("tasks", task, "schedule"), ())


def within(edit: Callable[..., object], path: Path, *arguments: Any) -> Change:
    """Return a change that calls `edit` with the block at a path and these arguments."""
    return bound(lambda data: edit(at(data, path), *arguments))


def remove(block: list[Any], i: int) -> None:
    """Leave the step at place i out."""
    del block[i]


def put(block: list[Any], i: int, step: Any) -> None:
    """Put a copy of a step in at place i."""
    block.insert(i, copy.deepcopy(step))


def wrap(block: list[Any], i: int, guard: Callable[[Any], Any]) -> None:
    """Put the step at place i under a guard."""
    block[i] = guard(block[i])


def alter(block: list[Any], i: int, update: dict[str, Any]) -> None:
    """Change keys of the step at place i."""
    block[i].update(update)


def steps(data: Any) -> Iterator[tuple[Path, int, Any, Guards]]:
    """Yield each node: its block, its place in it, the node, and the guards that make sense there."""
    for path, known in blocks(data):
        for i, step in enumerate(at(data, path)):
            yield path, i, step, known


def _is_block(step: Any) -> bool:
    return isinstance(step, dict) and any(isinstance(step.get(key), list) for key in BODIES)


def _place(path: Path) -> str:
    return f"in `{path[1]}`"


def drops(data: Any) -> Iterator[Mutation]:
    """Leave a step out."""
    for path, i, step, _ in steps(data):
        if not _is_block(step) and verb(step) not in RESULTS and len(at(data, path)) > 1:
            yield Mutation("drop", f"drop `{shown(step)}` {_place(path)}", within(remove, path, i))


def swaps(data: Any) -> Iterator[Mutation]:
    """Change the order of two neighbours."""

    def swap(block: list[Any], i: int) -> None:
        block[i], block[i + 1] = block[i + 1], block[i]

    for path, _ in blocks(data):
        for i, (one, two) in enumerate(pairwise(at(data, path))):
            words = f"swap `{shown(one)}` and `{shown(two)}` {_place(path)}"
            yield Mutation("swap", words, within(swap, path, i))


def doubles(data: Any) -> Iterator[Mutation]:
    """Do a step twice."""
    for path, i, step, _ in steps(data):
        if not _is_block(step):
            yield Mutation(
                "double",
                f"do `{shown(step)}` twice {_place(path)}",
                within(put, path, i, step),
            )


def guards(data: Any) -> Iterator[Mutation]:
    """Do a step in some rounds only, or in all instead of some."""
    for path, i, step, known in steps(data):
        if _is_block(step) or verb(step) in KEPT:
            continue
        for name, guard in known:
            yield Mutation(
                "guard",
                f"put `{shown(step)}` {_place(path)} under `{name}`",
                within(wrap, path, i, guard),
                str(path[1]),
            )


def opens(data: Any) -> Iterator[Mutation]:
    """Take a guard away."""
    for path, i, step, _ in steps(data):
        if verb(step) in ("when", "first_iter", "last_iter", "every"):
            key = next(key for key in BODIES if key in step)
            words = f"take `{verb(step)}` away {_place(path)}"

            def change(d: Any, p: Path = path, i: int = i, key: str = key) -> None:
                at(d, p)[i : i + 1] = at(d, p)[i][key]

            yield Mutation("guard", words, change)


def moves(data: Any) -> Iterator[Mutation]:
    """Move a step out of its loop or into the loop beside it."""

    def out(block: list[Any], i: int, which: int) -> None:
        step = block[i]["body"].pop(which)
        block.insert(i if which == 0 else i + 1, step)

    def into(block: list[Any], i: int, step: int) -> None:
        taken = block.pop(step)
        loop = block[i if step > i else i - 1]["body"]
        loop.insert(len(loop) if step > i else 0, taken)

    for path, i, step, _ in steps(data):
        if verb(step) not in LOOPS:
            continue
        body, around = step["body"], at(data, path)
        for which, side in ((0, "before"), (-1, "behind")):
            if len(body) > 1 and not _is_block(body[which]) and verb(body[which]) not in RESULTS:
                words = f"move `{shown(body[which])}` {_place(path)} {side} its loop"
                yield Mutation("move", words, within(out, path, i, which))
        for other in (i - 1, i + 1):
            if 0 <= other < len(around) and not _is_block(around[other]):
                words = f"move `{shown(around[other])}` {_place(path)} into the loop beside it"
                yield Mutation("move", words, within(into, path, i, other))


def bounds(data: Any) -> Iterator[Mutation]:
    """Give one task another range than the others."""
    if len(data["tasks"]) < 2:
        return
    for path, i, step, _ in steps(data):
        if verb(step) != "domain_loop":
            continue
        end, where = step["domain_loop"], _place(path)
        changed = {"domain_loop": f"{end} + 1"}, {"domain_loop": f"{end} - 1"}
        start = {"start": f"{step['start']} + {step.get('step', 1)}" if "start" in step else 1}
        stride = {"step": f"{step['step']} * 2" if "step" in step else 2}
        for new in (*changed, start, stride):
            key, value = next(iter(new.items()))
            words = f"{key} `{value}` {where}"
            yield Mutation("bound", words, within(alter, path, i, new))


def counts(data: Any) -> Iterator[Mutation]:
    """Change what a step keeps, or how many stores may be pending."""
    for path, i, step, _ in steps(data):
        if not isinstance(step, dict):
            continue
        word, new = verb(step), []
        if word == "store_wait":
            n = step[word]
            new += [{word: v} for v in ((1, 2) if n == 0 else (0, f"{n} - 1", f"{n} + 1", f"{n} + 3"))]
            new.append({"until": "written"})
        elif word in ("release", "commit"):
            keep = step.get("keep")
            values = (1, 2) if keep is None else (0, f"{keep} - 1", f"{keep} + 1", f"{keep} + 2")
            new += [{"keep": v} for v in values]
        elif word == "wait":
            new.append({"observe": True})
        for update in new:
            words = f"`{shown(step)}` with {update} {_place(path)}".replace("'", "")
            yield Mutation("count", words, within(alter, path, i, update))


def inserts(data: Any) -> Iterator[Mutation]:
    """Put in a step that looks harmless."""
    for path, i, step, _ in steps(data):
        word = verb(step)
        extra: list[Any] = []
        if word in ("acquire", "wait"):
            extra = [{f"try_{word}": step[word]}, {"skip": step[word], "count": 1}]
        elif word == "do":
            extra = ["task_sync"]
        for new in extra:
            words = f"put `{shown(new)}` before `{shown(step)}` {_place(path)}"
            yield Mutation("insert", words, within(put, path, i, new))


def settings(data: Any, values: dict[Path, tuple[Any, ...]]) -> Iterator[Mutation]:
    """Give other values to constants, resources and tasks."""

    def replace(document: Any, path: Path, value: Any) -> None:
        at(document, path[:-1])[path[-1]] = value

    for path, choices in values.items():
        for value in choices:
            words = f"{'.'.join(map(str, path))} = {value}"
            yield Mutation("setting", words, bound(replace, path, value))


def reorders(data: Any) -> Iterator[Mutation]:
    """Write the tasks in another order, which changes their warps and nothing else."""
    if len(data["tasks"]) > 1:

        def turn(document: Any) -> None:
            document["tasks"] = dict(reversed(document["tasks"].items()))

        yield Mutation("reorder", "write the tasks in the opposite order", turn)


SORTS = (drops, swaps, doubles, guards, opens, moves, bounds, counts, inserts, reorders)


def singles(data: Any, values: dict[Path, tuple[Any, ...]]) -> dict[str, list[Mutation]]:
    """Return all single changes by their sort."""
    found: dict[str, list[Mutation]] = {}
    for mutation in (*(m for sort in SORTS for m in sort(data)), *settings(data, values)):
        found.setdefault(mutation.sort, []).append(mutation)
    return found


def mutants(
    spec: str, text: str, values: dict[Path, tuple[Any, ...]], most: int, pairs: int, seed: int = 0
) -> list[Mutant]:
    """Return at most `most` mutants of one change, spread over the sorts, and `pairs` of two changes."""
    data, draw = yaml.safe_load(text), random.Random(f"{spec} {seed}")
    sorts = singles(data, values)
    for group in sorts.values():
        draw.shuffle(group)
    every = [mutation for group in sorts.values() for mutation in group]
    chosen: list[Mutation] = []
    while len(chosen) < min(most, len(every)):
        chosen += [group.pop() for group in sorts.values() if group][: most - len(chosen)]
    made: dict[str, Mutant] = {}

    def make(mutations: tuple[Mutation, ...], document: Any) -> bool:
        name = f"{spec.replace('/', '_')}-{len(made):03d}"
        sort = mutations[0].sort if len(mutations) == 1 else "pair"
        made.setdefault(
            mutated := written(document),
            Mutant(name, spec, sort, "; then ".join(m.words for m in mutations), mutated),
        )
        return made[mutated].name == name

    for mutation in chosen:
        document = copy.deepcopy(data)
        mutation.change(document)
        if written(document) != written(data):
            make((mutation,), document)
    tries, most_tries = 0, 20 * pairs
    while pairs and tries < most_tries:
        tries += 1
        first = draw.choice(every)
        document = copy.deepcopy(data)
        first.change(document)
        # The second is drawn from what the first one left, so that both say what they do.
        second = draw.choice([m for group in singles(document, values).values() for m in group])
        if {first.sort, second.sort} <= BOUNDS or (first.task and first.task == second.task):
            continue
        second.change(document)
        pairs -= make((first, second), document)
    return list(made.values())
