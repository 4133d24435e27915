"""Programs from a few lines of YAML: the head that every spec has is added."""

from __future__ import annotations

import textwrap
from pathlib import Path

from tsc.program.model import Memory, Pipeline, Program, Task
from tsc.program.resolve import resolve
from tsc.source import parse
from tsc.spec.load import to_spec
from tsc.spec.overrides import Overrides

HEAD = "tsc: 1\nkernel: k\ntarget: sm_90a\n"


def program(text: str, *, head: str = HEAD, base: Path | None = None) -> Program:
    """Resolve a spec; `text` is dedented, and the models must accept it."""
    reading = parse(head + textwrap.dedent(text), "k.tsc.yaml", "yaml")
    assert reading.document is not None, [it.message for it in reading.findings]
    spec, mistakes = to_spec(reading.document, Overrides())
    assert spec is not None, [it.message for it in mistakes]
    return resolve(spec, "k.tsc.yaml", base)


def tasks(found: Program) -> dict[str, Task]:
    return {task.label: task for task in found.tasks}


def pipe(found: Program, name: str, copy: int = 0) -> Pipeline:
    return found.pipelines[name, copy]


def memory(found: Program, name: str) -> Memory:
    return found.memories[name]


def verbs(task: Task) -> list[str]:
    return [step.verb for step in task.steps()]
