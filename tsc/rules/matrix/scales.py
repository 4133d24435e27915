"""What scale factors of products ask of their buffers: facts of a rule."""

from __future__ import annotations

from collections.abc import Iterator

from tsc.ops.block_scales import BYTES, COLUMNS, DEEP, LANES, ROWS, SCALINGS, Scaling, blocks_of, scaling
from tsc.ops.matrices import STEP
from tsc.ops.tcgen05_cp import Tcgen05Cp
from tsc.ops.tcgen05_mma import Tcgen05Mma
from tsc.ops.tensor_products import rows_of
from tsc.program.model import Buffer, Program
from tsc.program.tree import Step
from tsc.rules.matrix.products import Side, size
from tsc.rules.matrix.tensor_products import TensorProduct, tensor_products
from tsc.rules.memo import per_program
from tsc.source.route import Route

Misfit = tuple[Step, str, str, str]
"""A step, the key that is at fault (empty for the step itself), message and help."""


def misfits(program: Program) -> Iterator[Misfit]:
    """Yield what is wrong with the scale factors of products."""
    for product in tensor_products(program):
        model = product.step.model
        if not isinstance(model, Tcgen05Mma) or (model.scale_a is None and model.scale_b is None):
            continue
        if model.scale_a is None or model.scale_b is None:
            key = "scale_a" if model.scale_b is None else "scale_b"
            other = "scale_b" if key == "scale_a" else "scale_a"
            message = f"both operands of a product are scaled, or neither, and here is no `{other}`"
            yield product.step, key, message, f"write `{other}`, too"
            continue
        scales = [
            program.meaning(one, product.task, product.step.env) for one in (model.scale_a, model.scale_b)
        ]
        buffers = [one.buffer if one is not None and one.kind == "tmem" else None for one in scales]
        if product.a is not None and product.b is not None and None not in buffers:
            held = [one for one in buffers if one is not None]
            yield from _product(product, product.a, product.b, held[0], held[1])


def _product(product: TensorProduct, a: Side, b: Side, of_a: Buffer, of_b: Buffer) -> Iterator[Misfit]:
    step, how = product.step, scaling(a.dtype, b.dtype, of_a.dtype, of_b.dtype)
    if how is None or product.to.dtype != "f32":
        known = "; ".join(f"{left} by {right}" for left, right in SCALINGS)
        yield (
            step,
            "",
            f"nothing multiplies {a.dtype} scaled by {of_a.dtype} and {b.dtype} by {of_b.dtype} "
            f"into {product.to.dtype}",
            f"into f32 go, of one kind for both operands: {known}",
        )
        return
    group, columns = product.group, product.group * b.rows
    if a.rows != ROWS or columns not in (ROWS, 2 * ROWS):
        message = (
            f"scaled products are {ROWS} by {ROWS} or {2 * ROWS}, and this one is {a.rows:,} by {columns:,}"
        )
        if a.rows in rows_of(group):  # else there is no such product at all, which is said of it
            yield step, "", message, f"give `a` {ROWS} rows, and `b` {ROWS // group} or {2 * ROWS // group}"
        return
    factors = _factors(a, how)
    for key, side, buffer, rows in (("scale_a", a, of_a, a.rows), ("scale_b", b, of_b, columns)):
        wanted = (LANES, rows // ROWS * -(-factors // DEEP) * BYTES // LANES)
        if buffer.shape != wanted:
            whose = "" if rows == side.rows else " of both CTAs"
            yield (
                step,
                key,
                f"`{side.text}` has {factors:,} factors for each of {rows:,} rows{whose}, {size(wanted)} in "
                f"tensor memory, and `{buffer.name}` is {size(buffer.shape)}",
                f"write `shape: [{wanted[0]}, {wanted[1]}]`",
            )


def _factors(side: Side, how: Scaling) -> int:
    """Return how many factors a row of an operand has."""
    return side.depth * side.bits // 8 // STEP * how.per_step(side.bits)


def copies_of(program: Program) -> Iterator[Misfit]:
    """Yield what is wrong with copies of scale factors into tensor memory."""
    wanted = _blocks(program)
    for step, there, here in _copies(program):
        yield from _copy(step, there, here, wanted.get(there.route))


def _copies(program: Program) -> Iterator[tuple[Step, Buffer, Buffer]]:
    """Yield the copies with the buffers that they fill and read."""
    for task in program.tasks:
        for step in task.steps():
            if isinstance(step.model, Tcgen05Cp):
                to = program.meaning(step.model.tcgen05_cp, task, step.env)
                source = program.meaning(step.model.from_, task, step.env)
                if to is None or source is None or to.kind != "tmem" or source.kind != "smem":
                    continue
                if to.buffer is not None and source.buffer is not None:
                    yield step, to.buffer, source.buffer


def _blocks(program: Program) -> dict[Route, tuple[int, int]]:
    """Return how many blocks of rows and of k the products ask of buffers in tensor memory."""
    found = {}
    for product in tensor_products(program):
        model, sides = product.step.model, ((product.a, 1), (product.b, product.group))
        scales = (model.scale_a, model.scale_b) if isinstance(model, Tcgen05Mma) else ()
        for scale, (side, share) in zip(scales, sides, strict=False):
            held = program.meaning(scale, product.task, product.step.env) if scale is not None else None
            if side is None or held is None or held.buffer is None:
                continue
            how = scaling(side.dtype, side.dtype, held.buffer.dtype, held.buffer.dtype)
            if how is not None and side.rows * share % ROWS == 0:
                found[held.buffer.route] = side.rows * share // ROWS, -(-_factors(side, how) // DEEP)
    return found


@per_program
def blocks_written(program: Program) -> dict[Route, str]:
    """Return, by their places, the edits that give buffers of scale factors in shared memory their shapes."""
    wanted = _blocks(program)
    found = ((here.route, wanted.get(there.route)) for _, there, here in _copies(program))
    lie = "scale factors lie in blocks: write `shape: "
    return {route: f"{lie}{_block_shape(*blocks)}`" for route, blocks in found if blocks is not None}


def _block_shape(rows: int, deep: int) -> str:
    return f"[{rows}, {deep}, 2, {BYTES // 2}]"


def _copy(step: Step, there: Buffer, here: Buffer, wanted: tuple[int, int] | None) -> Iterator[Misfit]:
    blocks = blocks_of(here.shape, here.bits)
    if there.dtype != here.dtype:
        message = f"a copy converts nothing: `{here.name}` is {here.dtype}, `{there.name}` {there.dtype}"
        yield step, "", message, f"make `{there.name}` {here.dtype}"
    elif here.swizzle:
        yield (
            step,
            "from",
            f"blocks of scale factors are not swizzled, and `{here.name}` is",
            "write `swizzle: none`",
        )
    elif blocks is None:
        message = f"`{here.name}` is {here.bytes:,} bytes, no whole blocks of {BYTES}"
        mend = f"give it {ROWS} rows by {DEEP} factors, or as many times that"
        yield step, "from", message, f"write `shape: {_block_shape(*wanted)}`" if wanted else mend
    elif there.bytes != COLUMNS * blocks[0] * blocks[1] or there.shape[0] != LANES:
        number = blocks[0] * blocks[1]
        fills = LANES, number * BYTES // LANES
        has = f"{number:,} block{' is' if number == 1 else 's are'} {size(fills)} {here.dtype}"
        message = f"{has} in tensor memory, and `{there.name}` is {size(there.shape)}"
        if wanted is None:
            yield step, "tcgen05_cp", message, f"write `shape: [{fills[0]}, {fills[1]}]`"
        elif wanted[0] * wanted[1] != number:
            each = f"{BYTES} bytes for {ROWS} rows by {DEEP} factors"
            yield step, "from", message, f"give `{here.name}` `shape: {_block_shape(*wanted)}`: {each}"
