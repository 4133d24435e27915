"""`tsc graph`: tasks and resources as a picture in Mermaid or DOT; both are text."""

from __future__ import annotations

from typing import Literal

from tsc.program.accesses import Touch
from tsc.program.model import Program, Task

Edge = tuple[str, str, str]  # from, to, label


def edges(program: Program) -> tuple[Edge, ...]:
    """Return an edge from what a task reads to the task, and from the task to what it writes."""
    found: dict[Edge, None] = {}
    for task in program.tasks:
        for step in task.steps():
            for touch in program.touches(step, task):
                for edge in _edges(
                    task, step.verb if step.verb != "do" else getattr(step.model, "do", ""), touch, program
                ):
                    found.setdefault(edge)
        for use in program.uses:
            if use.task == task.label and program.memories[use.ring].kind == "signal":
                edge = (task.label, use.ring, "commit") if use.produces else (use.ring, task.label, "wait")
                found.setdefault(edge)
    return tuple(found)


def _edges(task: Task, label: str, touch: Touch, program: Program) -> list[Edge]:
    name = touch.reference.name
    if name not in program.memories and name not in program.tensors:
        return []
    made: list[Edge] = []
    if touch.reads:
        made.append((name, task.label, label))
    if touch.writes:
        made.append((task.label, name, label))
    return made


def render(program: Program, form: Literal["mermaid", "dot"] = "mermaid") -> str:
    """Return the graph as text."""
    return _mermaid(program) if form == "mermaid" else _dot(program)


def _label(program: Program, name: str) -> str:
    if name in program.tensors:
        tensor = program.tensors[name]
        return f"{name}: {tensor.dtype} [{', '.join(extent.text for extent in tensor.shape)}]"
    memory = program.memories[name]
    ring = program.pipelines.get((name, 0))
    count = "1 stage" if memory.stages == 1 else f"{memory.stages} stages"
    stages = f", {count}" if memory.stages is not None else ""
    return f"{name}: {memory.kind}{stages}" + (f", {ring.kind}" if ring is not None else "")


def _nodes(program: Program) -> tuple[list[str], list[str]]:
    named = {name for source, target, _ in edges(program) for name in (source, target)}
    tensors = [name for name in program.tensors if name in named]
    return tensors, [name for name in program.memories if name in named]


def _mermaid(program: Program) -> str:
    tensors, memories = _nodes(program)
    ids = {task.label: f"task{i}" for i, task in enumerate(program.tasks)}
    ids |= {name: f"res_{name}" for name in (*tensors, *memories)}
    lines = ["flowchart LR"]
    lines += [f'  {ids[task.label]}["{task.label}"]' for task in program.tasks]
    lines += [f'  {ids[name]}[/"{_label(program, name)}"/]' for name in tensors]
    lines += [f'  {ids[name]}[("{_label(program, name)}")]' for name in memories]
    lines += [f"  {ids[source]} -- {label} --> {ids[target]}" for source, target, label in edges(program)]
    return "\n".join(lines) + "\n"


def _dot(program: Program) -> str:
    tensors, memories = _nodes(program)
    lines = [f'digraph "{program.kernel}" {{', "  rankdir=LR;"]
    lines += [f'  "{task.label}" [shape=box];' for task in program.tasks]
    lines += [f'  "{name}" [shape=parallelogram, label="{_label(program, name)}"];' for name in tensors]
    lines += [f'  "{name}" [shape=cylinder, label="{_label(program, name)}"];' for name in memories]
    lines += [f'  "{source}" -> "{target}" [label="{label}"];' for source, target, label in edges(program)]
    return "\n".join([*lines, "}"]) + "\n"
