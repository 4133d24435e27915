"""Where things stand in the schedules of the shipped GEMMs, for those who change them on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Edit = Callable[[Any], None]
"""Changes a document in place."""


def tiles_of(data: Any, task: str) -> Any:
    """Return the body of a task's loop over tiles; of the one of two replicas, what its turn holds."""
    tiles = next(step for step in data["tasks"][task]["schedule"] if "work_tile_loop" in step)
    return tiles["body"]


def products_of(data: Any) -> Any:
    """Return the block with the loop over k of the task that multiplies."""
    body = tiles_of(data, "math")
    return body[0]["then"] if "then" in body[0] and "else" in body[0] else body


def find(block: Any, verb: str, value: object = None) -> int:
    """Return where the first step with a verb, and with this value if one is given, stands."""
    return next(
        i
        for i, step in enumerate(block)
        if isinstance(step, dict) and verb in step and value in (None, step[verb])
    )


def rounds_of(block: Any) -> Any:
    """Return the body of the loop over k in a block."""
    return block[find(block, "domain_loop")]["body"]


def stores_of(block: Any) -> Any:
    """Return the block with the stores of a tile."""
    inner = block
    while not any(isinstance(step, dict) and "stmatrix" in step for step in inner):
        inner = next(step for step in inner if "repeat" in step or step.get("when") == "last")
        inner = inner.get("body", inner.get("then"))
    return inner


def epilogue_of(block: Any) -> int:
    """Return where the epilogue begins."""
    last = [i for i, step in enumerate(block) if "repeat" in step or "do" in step]
    return last[0]


def lift(block: Any, i: int, to: int) -> None:
    """Move a step."""
    block.insert(to, block.pop(i))


def guard_step(block: Any, i: int, condition: str) -> None:
    """Put a step under a condition."""
    block[i] = {"when": condition, "then": [block[i]]}
