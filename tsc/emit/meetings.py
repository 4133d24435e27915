"""Where the warps of warpgroups have to meet before one of each gives a stage back for all of them.

A product holds the four warps of a warpgroup together, so none arrives for a stage that another still waits
for. On a path from a wait to its release without any product nothing does: a warp left behind could miss two
phases of the stage's barrier, and wait for ever.
"""

from __future__ import annotations

from collections.abc import Mapping

from typing_extensions import override

from tsc.emit.forward import Forward
from tsc.emit.kernel import Kernel
from tsc.program.arrivals import who
from tsc.program.expand import operand_of
from tsc.program.model import Task
from tsc.program.tree import Step

Ring = tuple[str, int]  # name and copy
Waited = Mapping[Ring, int]  # stages waited for since the warps met last, the most of any path

MEETINGS = frozenset(("wgmma", "task_sync", "store_wait", "count_in"))


def unmet_releases(kernel: Kernel, task: Task) -> frozenset[int]:
    """Return the releases, by index, that may speak for a warp that has not seen the stage."""
    walk = _Walk(kernel, task)
    walk.block(task.tree, {})
    return frozenset(walk.found)


class _Walk(Forward[Waited]):
    def __init__(self, kernel: Kernel, task: Task) -> None:
        self.kernel, self.task, self.program = kernel, task, kernel.program
        self.found: set[int] = set()

    @override
    def joined(self, a: Waited, b: Waited) -> Waited:
        return {ring: max(a.get(ring, 0), b.get(ring, 0)) for ring in {**a, **b}}

    @override
    def step(self, step: Step, state: Waited) -> Waited:
        if step.verb in MEETINGS:
            return {}
        if step.verb not in ("wait", "release"):
            return state
        rings = self.rings(step)
        if step.verb == "wait":
            return {**state, **{ring: min(stages, 1 + state.get(ring, 0)) for ring, stages in rings.items()}}
        if any(state.get(ring, 0) > self.kept(step) for ring in rings):
            self.found.add(step.index)
            return {}
        return state

    def rings(self, step: Step) -> dict[Ring, int]:
        """Return the rings of a step that warpgroups give back, with their stages."""
        reference = operand_of(step)
        operand = None if reference is None else self.kernel.meaning(reference, self.task, step)
        if reference is None or operand is None:
            return {}
        found = {
            (name, operand.copy): pipeline.stages
            for name in self.program.meanings.group_members(reference.name)
            if (pipeline := self.program.pipelines.get((name, operand.copy))) is not None
        }
        uses = [use for name, copy in found if (use := self.kernel.use(self.task, name, copy)) is not None]
        return found if who(self.task, uses, "read") == "warpgroups" else {}

    def kept(self, step: Step) -> int:
        """Return how many of the youngest stages a release leaves."""
        keep = getattr(step.model, "keep", None)
        return 0 if keep is None else self.program.meanings.values.integer(keep, step.route, step.env) or 0
