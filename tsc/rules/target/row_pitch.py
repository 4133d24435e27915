"""Moves a packed tensor by TMA whose rows do not begin at multiples of 16 bytes.

What it does
    Checks the distance between rows, planes and so on of each tensor that TMA moves, where `packed` promises
    that there are no gaps and the extents are constants. Other distances are checked at each call.

Why is this bad
    A tensor map takes distances that are multiples of 16 bytes only: every call would be refused.

Example
    x: {dtype: f32, shape: [m, 250], packed: true}     # 1,000 bytes from row to row

Use instead
    x: {dtype: f32, shape: [m, 252], packed: true}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.program.model import Program, Tensor
from tsc.program.storage import BITS
from tsc.rules.target.copies import copies
from tsc.rules.target.tma_box_does_not_fit import GRAIN

RULE = Rule("TSC528", "row-pitch", Severity.ERROR, "rows that TMA moves begin at no multiple of 16 bytes")


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each packed tensor with a distance that no tensor map has."""
    reported: set[str] = set()
    for copy in copies(program, "tma_load", "tma_store", "tma_reduce"):
        tensor = copy.tensor
        found = _odd_pitch(program, tensor)
        if found is not None and tensor.name not in reported:
            reported.add(tensor.name)
            dim, pitch = found
            yield Finding(
                RULE.name,
                f"`{tensor.name}` is packed, its dimension {dim} steps by {pitch:,} bytes, and TMA needs a "
                f"multiple of {GRAIN}",
                Place((*tensor.route, "shape")),
                (Place(copy.step.route, label="moved by TMA here"),),
                help="pad the inner extent, or load it by `cp_async` or by threads",
            )


def _odd_pitch(program: Program, tensor: Tensor) -> tuple[int, int] | None:
    """Return the innermost dimension whose distance is no multiple of 16 bytes, and that in bytes."""
    if not tensor.packed:
        return None
    count = 1
    for inner, outer in zip(tensor.order[:0:-1], tensor.order[-2::-1], strict=True):
        extent = program.values.integer(tensor.shape[inner], (*tensor.route, "shape", inner))
        if extent is None:
            return None
        count *= extent
        if count * BITS[tensor.dtype] % (8 * GRAIN):
            return outer, count * BITS[tensor.dtype] // 8
    return None
