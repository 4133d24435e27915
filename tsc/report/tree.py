"""`tsc tree`: every task's schedule, with sections, call indices, routes of values, and derived steps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tsc.expr import Expr
from tsc.model import Reference
from tsc.program.model import Program, Task
from tsc.program.names import expressions, key_of
from tsc.program.tree import Block, Guard, Loop, Node, Step, TileLoop, blocks, walk
from tsc.spec.schedule import Do

Row = tuple[str, str, str, str]  # section, call index, the node with its branches, a note
WIDTH = 76  # notes stand in one column up to here


@dataclass(frozen=True, slots=True)
class ValueRoute:
    """The way of a token: from the step that makes it, by its call index, to the node that takes it."""

    token: str
    maker: int
    node: Node

    @property
    def taker(self) -> int | None:
        """The call index of the step that takes it; a loop or guard has none."""
        return self.node.index if isinstance(self.node, Step) else None


def value_routes(task: Task) -> tuple[ValueRoute, ...]:
    """Return the routes of a task's tokens: from the nearest step before, else from the round before."""
    last = {
        name: step.index for step in task.steps() if isinstance(step.model, Do) for name in step.model.out
    }
    made: dict[str, int] = {}
    found = []
    for node, _ in walk(task.tree):
        for name in sorted(_names(node) & last.keys()):
            found.append(ValueRoute(name, made.get(name, last[name]), node))
        if isinstance(node, Step) and isinstance(node.model, Do):
            made.update(dict.fromkeys(node.model.out, node.index))
    return tuple(found)


def _names(node: Node) -> set[str]:
    values: list[Any] = []
    match node:
        case Step():
            if not isinstance(node.model, str):
                values = [getattr(node.model, field) for field in type(node.model).model_fields]
        case Loop():
            values = [node.start, node.end, node.step]
        case Guard():
            values = [node.condition]
        case TileLoop():
            values = [node.skip_if]
    return {name.text for value in values for _, expr in expressions(value, ()) for name in expr.names}


def step_text(step: Step) -> str:
    """Write a step in one line, as in the spec, with the copy's build-time values."""
    if isinstance(step.model, str):
        return step.model
    parts = []
    for field, info in type(step.model).model_fields.items():
        value = getattr(step.model, field)
        key = key_of(step.model, field)
        if key == step.verb or value == info.default or value in ((), {}):
            continue
        parts.append(f"{key}: {show_value(value)}")
    head = getattr(
        step.model, next(f for f in type(step.model).model_fields if key_of(step.model, f) == step.verb)
    )
    text = f"{step.verb}: {show_value(head)}"
    return ", ".join([text, *parts])


def show_value(value: Any) -> str:
    """Write a value of a step as in the spec."""
    if isinstance(value, (Expr, Reference)):
        return value.text
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(show_value(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {show_value(item)}" for key, item in value.items()) + "}"
    return str(value)


def node_text(node: Node) -> str:
    """Write the head of a loop or guard in one line, as in the spec."""
    match node:
        case TileLoop():
            return f"work_tile_loop: {node.queue}" + (
                f", skip_if: {node.skip_if.text}" if node.skip_if else ""
            )
        case Loop():
            parts = [f"{node.kind}: {node.end.text}"]
            parts += [f"start: {node.start.text}"] if node.start.value != 0 else []
            parts += [f"step: {node.step.text}"] if node.step.value != 1 else []
            parts += [f"as: {node.variable}"] if node.kind == "for" else []
            parts += [f"unroll: {node.unroll}"] if node.unroll is not None else []
            parts += [f"key: {node.key}"] if node.key is not None else []
            return ", ".join(parts)
        case Guard():
            text = node.verb
            if node.condition is not None:
                text += f": {node.condition.text}"
            if node.kind == "every":
                text += f": {node.period}" + (f", start: {node.start}" if node.start else "")
            return text + (f", key: {node.key}" if node.key is not None else "")
    return step_text(node)


def headline(program: Program) -> str:
    """Return the first line of a report: the kernel, its target, and what a CTA and a cluster have."""
    bytes_, threads = program.smem_bytes, program.threads
    size = "shared memory unknown" if bytes_ is None else f"{bytes_:,} bytes of shared memory"
    count = "threads unknown" if threads is None else f"{threads:,} threads"
    parts = [program.arch, count, size]
    several = [f"{extent:,} along `{axis}`" for axis, extent in program.cluster if extent > 1]
    if several:
        parts.append(f"clusters of {' x '.join(several)}")
    return f"{program.kernel}: {', '.join(parts)}"


def render_text(program: Program) -> str:
    """Return the trees as text, one row a node: section, call index, node, and what is known of it.

    Replicas whose trees read the same are printed once.
    """
    lines = [headline(program)]
    printed: dict[tuple[str, tuple[Row, ...]], list[Task]] = {}
    for task in program.tasks:
        rows = tuple(_rows(task.tree, "", value_routes(task)))
        printed.setdefault((task.name, rows), []).append(task)
    for (_, rows), tasks in printed.items():
        lines += ["", *map(_title, tasks)]
        width = min(WIDTH, max((len(text) for _, _, text, note in rows if note), default=0))
        for section, index, text, note in rows:
            lines.append(f"{section:6} {index:>4}  {text:{width if note else 0}}  {note}".rstrip())
    return "\n".join(lines) + "\n"


def _title(task: Task) -> str:
    first, warps = task.first_warp, task.warps
    where = "warps unknown"
    if first is not None and warps is not None:
        where = f"warp {first}" if warps == 1 else f"warps {first} to {first + warps - 1}"
    parts = [where, "one thread" if task.single else f"{task.threads} threads"]
    parts += [f"{task.registers} registers"] if task.registers is not None else []
    parts += ["in the leader of a pair"] if task.ctas == "leader" else []
    parts += ["derived"] if task.derived else []
    return f"{task.label}  ({', '.join(parts)})"


def _rows(block: Block, indent: str, routes: tuple[ValueRoute, ...]) -> Iterator[Row]:
    for i, node in enumerate(block):
        last = i == len(block) - 1
        lead, inner = indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  ")
        if isinstance(node, Step):
            yield node.section, f"#{node.index}", lead + step_text(node), _note(node, routes)
            continue
        yield "", "", lead + node_text(node), ", ".join(_sources(node, routes))
        named = named_blocks(node)
        for name, body in named:
            if name:
                yield "", "", inner + name, ""
            yield from _rows(body, inner + ("   " if name else ""), routes)


def named_blocks(node: Node) -> list[tuple[str, Block]]:
    """Return the blocks inside a node that are not empty, with names where there are several."""
    match node:
        case Loop() if node.split:
            return [
                (
                    f"part {piece.part}" + (f", until {piece.until.text}" if piece.until is not None else ""),
                    piece.body,
                )
                for piece in node.pieces
            ]
        case Guard() if node.then and node.otherwise:
            return [("then", node.then), ("else", node.otherwise)]
    return [("", block) for block in blocks(node) if block]


def _note(step: Step, routes: tuple[ValueRoute, ...]) -> str:
    used = _names(step) - {"threads", "replica"}
    parts = [f"{name} = {value}" for name, value in step.env.items() if name in used]
    return ", ".join([*parts, *_sources(step, routes), *(["derived"] if step.derived else [])])


def _sources(node: Node, routes: tuple[ValueRoute, ...]) -> list[str]:
    return [f"`{route.token}` from #{route.maker}" for route in routes if route.node is node]


def render_json(program: Program) -> str:
    """Return the trees as JSON: tasks with their warps and nodes, each with kind, text and inner blocks."""
    tasks = []
    for task in program.tasks:
        routes = [
            {"token": r.token, "from": r.maker, "to": r.taker, "route": list(r.node.route)}
            for r in value_routes(task)
        ]
        tasks.append(
            {
                "task": task.label,
                "first_warp": task.first_warp,
                "warps": task.warps,
                "registers": task.registers,
                "one_thread": task.single,
                "derived": task.derived,
                "schedule": [_json(node) for node in task.tree],
                "routes": routes,
            }
        )
    data = {"version": 1, "kernel": program.kernel, "target": [program.arch], "tasks": tasks}
    return json.dumps(data, indent=2) + "\n"


def _json(node: Node) -> dict[str, Any]:
    if isinstance(node, Step):
        values = {name: value for name, value in node.env.items() if name != "threads"}
        return {
            "kind": "step",
            "verb": node.verb,
            "text": step_text(node),
            "index": node.index,
            "section": node.section,
            "derived": node.derived,
            "values": values,
            "route": list(node.route),
        }
    kind = {TileLoop: "work_tile_loop", Loop: "loop", Guard: "guard"}[type(node)]
    named = named_blocks(node)
    inner = [{"name": name or "body", "nodes": [_json(n) for n in block]} for name, block in named]
    return {"kind": kind, "text": node_text(node), "blocks": inner, "route": list(node.route)}
