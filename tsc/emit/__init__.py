"""From the resolved program to CUDA text and the manifest inside it."""

from __future__ import annotations

from typing import Any

from tsc.emit.assemble import complete, plan_kernel
from tsc.emit.plan import KernelPlan
from tsc.program.model import Program
from tsc.source.document import Document
from tsc.source.route import show_route


class NotGenerated(Exception):
    """The program cannot be lowered; a check says so before, with places."""


def emit(
    program: Program,
    *,
    headers: bool = True,
    line: bool = True,
    arch: str | None = None,
    document: Document | None = None,
    sanitize: bool = False,
) -> str:
    """Return the CUDA C++ of a program.

    Without `headers` the device headers are included by name; without `line` no `#line` points into the
    spec. `document` is the spec's text, for lines and for the hash. With `sanitize` every thread arrives at
    barriers by itself: slower, but a race checker can follow. Raises NotGenerated for what `not_generated`
    names.
    """
    from tsc.emit.render import render

    return render(_plan(program, arch, document, sanitize), headers=headers, line=line)


def manifest(program: Program, arch: str | None = None, document: Document | None = None) -> dict[str, Any]:
    """Return the manifest that the text carries. Raises NotGenerated as `emit` does."""
    return dict(_plan(program, arch, document).manifest)


def _plan(
    program: Program, arch: str | None, document: Document | None, sanitize: bool = False
) -> KernelPlan:
    if not complete(program):
        raise NotGenerated(f"`{program.kernel}` has errors; `tsc check` lists them")
    plan = plan_kernel(program, arch, document, sanitize)
    if plan.refusals:
        first = plan.refusals[0]
        raise NotGenerated(f"{show_route(first.route)}: {first.sentence}")
    return plan


__all__ = ["NotGenerated", "emit", "manifest"]
