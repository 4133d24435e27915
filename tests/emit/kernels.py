"""Specs of the generator's tests: from a file or a text to the program, its CUDA and what the compiler says
of it.
"""

from __future__ import annotations

from pathlib import Path

from tsc.emit import emit
from tsc.emit.assemble import plan_kernel
from tsc.emit.plan import KernelPlan
from tsc.program.model import Program
from tsc.program.resolve import resolve
from tsc.source.document import Document
from tsc.source.reader import parse
from tsc.spec.load import to_spec

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.name.removesuffix(".tsc.yaml") for path in CASES.glob("*.tsc.yaml"))


def document_of(name: str) -> Document:
    """The document of a spec in `cases/`, under a name that does not depend on the folder."""
    return document(CASES.joinpath(f"{name}.tsc.yaml").read_text(encoding="utf-8"), f"{name}.tsc.yaml")


def document(text: str, name: str = "spec.tsc.yaml") -> Document:
    reading = parse(text, name, "yaml")
    assert reading.document is not None, reading.findings
    return reading.document


def program_of(found: Document) -> Program:
    spec, findings = to_spec(found)
    assert spec is not None, [finding.message for finding in findings]
    return resolve(spec, found.name, CASES)


def plan(text: str) -> KernelPlan:
    return plan_kernel(program_of(document(text)))


def cuda(found: Document, **options: bool) -> str:
    return emit(program_of(found), document=found, **options)


HEADER = "tsc: 1\nkernel: k\ntarget: sm_90a\n"


def small(tasks: str, resources: str = "", rest: str = "", grid: str = "launch: {grid: [1]}") -> str:
    """A spec of these tasks, resources and further keys."""
    lines = [
        HEADER,
        rest,
        grid,
        "resources:",
        resources or "  unused: {kind: registers, dtype: f32, per_thread: 1}",
        "tasks:",
        tasks,
    ]
    return "\n".join(line.rstrip("\n") for line in lines if line) + "\n"
