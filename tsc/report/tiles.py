"""`tsc tiles`: the numbers of the tiles, who takes which, and how full and how thrifty the waves are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product
from operator import floordiv

from tsc.tiles.grid import Grid, Place

MOST = 1 << 24
"""More units than this are not listed."""
_ROWS, _COLUMNS, _PLANES, _WORKERS, _TILES, _WAVES = 32, 24, 4, 12, 12, 8


@dataclass(frozen=True, slots=True)
class Operand:
    """What each tile loads: tiles of one `key` load the same bytes, `bytes` of them (`None`: not known)."""

    name: str
    bytes: int | None
    key: Callable[[Sequence[Place]], Sequence[object]]


@dataclass(frozen=True)
class Picture:
    """Tiles in an order and the workers that take them: a worker is a CTA, or a cluster of them."""

    title: str
    grid: Grid
    workers: int
    operands: tuple[Operand, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def units(self) -> list[Place]:
        """The places of all units in order."""
        return self.grid.places()

    @cached_property
    def clustered(self) -> bool:
        """Whether a worker takes several tiles at once."""
        return any(size > 1 for size in self.grid.sizes)

    @cached_property
    def ragged(self) -> bool:
        """Whether CTAs of some cluster stand past an end."""
        return any(extent % size for extent, size in zip(self.grid.extents, self.grid.sizes, strict=True))

    def tiles(self, unit: Place) -> list[Place]:
        """The tiles of a unit; CTAs past a ragged end have none."""
        found = self.grid.tiles(unit)
        return list(filter(self.grid.inside, found)) if self.ragged else found

    def taken(self, units: Sequence[Place]) -> Sequence[Place]:
        """The tiles of some units, in order."""
        return list(chain.from_iterable(map(self.tiles, units))) if self.clustered else units

    def starts(self) -> list[int]:
        """How many tiles were taken before each wave, if each takes as long as any other, and in the end."""
        total, each = len(self.units), len(self.grid.ranks)
        if not self.ragged:
            return [each * min(at, total) for at in range(0, total + self.workers, self.workers)]
        found = [0]
        for first in range(0, total, self.workers):
            found.append(found[-1] + len(self.taken(self.units[first : first + self.workers])))
        return found


def axes_apart(axes: tuple[str, ...]) -> tuple[Operand, ...]:
    """Return the operands of a matrix product: A, which the last axis does not move, and B the one before."""
    if len(axes) < 2:
        return (Operand(f"along `{axes[0]}`", None, lambda tiles: tiles),)
    kept = (tuple(range(len(axes) - 1)), (*range(len(axes) - 2), len(axes) - 1))
    found = []
    for letter, at in zip("AB", kept, strict=True):
        found.append(Operand(f"{letter} ({', '.join(axes[i] for i in at)})", None, _picks(at)))
    return tuple(found)


def _picks(at: tuple[int, ...]) -> Callable[[Sequence[Place]], Sequence[object]]:
    if len(at) == 1:
        (one,) = at
        return lambda tiles: [tile[one] for tile in tiles]
    return lambda tiles: [tuple(tile[i] for i in at) for tile in tiles]


# ---- json --------------------------------------------------------------------------------------------------


def render_json(picture: Picture) -> str:
    """Return the tiles in their order, and each worker's, as one line of JSON."""
    shape = f"[{', '.join(['%d'] * len(picture.grid.axes))}]"
    units = [
        ", ".join(shape % tile for tile in picture.tiles(unit)) if picture.clustered else shape % unit
        for unit in picture.units
    ]
    workers = (", ".join(units[first :: picture.workers]) for first in range(picture.workers))
    shares = ", ".join(f"[{share}]" for share in workers)
    return f'{{"order": [{", ".join(units)}], "workers": [{shares}]}}\n'


# ---- text --------------------------------------------------------------------------------------------------


def render_text(picture: Picture) -> str:
    """Return the numbering, who takes what, each worker's sequence, and the waves."""
    parts = [_head(picture)]
    if picture.units:
        parts += [*_maps(picture), _sequences(picture), _waves(picture)]
    return "\n".join(parts)


def _head(picture: Picture) -> str:
    grid = picture.grid
    sizes = " x ".join(f"{extent:,}" for extent in grid.extents)
    lines = [f"{picture.title}: {sizes} tiles ({', '.join(grid.axes)})"]
    if picture.clustered:
        shape, units = (" x ".join(f"{it:,}" for it in found) for found in (grid.sizes, grid.units))
        lines.append(f"clusters of {shape}: {units} of them{', ragged at the end' if picture.ragged else ''}")
    lines += picture.notes
    return "".join(f"{line}\n" for line in lines)


def _maps(picture: Picture) -> Iterator[str]:
    """Yield the numbers of all tiles and then who takes them, a plane of the last two axes at a time."""
    worker = "cluster" if picture.clustered else "worker"
    number = "number of each tile's cluster" if picture.clustered else "number of each tile"
    # Of a large grid a corner is shown, and its units alone are looked up.
    down, across = (1, 1, *picture.grid.units)[-2], picture.grid.units[-1]
    whole = down <= _ROWS and across <= _COLUMNS
    seen = [
        at for at in enumerate(picture.units) if whole or (at[1][-1] < _COLUMNS and (0, *at[1])[-2] < _ROWS)
    ]
    numbers = {unit: number for number, unit in seen}
    for what, modulus in ((number, len(picture.units)), (f"{worker} that takes it", picture.workers)):
        outside = list(product(*map(range, picture.grid.extents[:-2])))
        for plane in outside[:_PLANES]:
            yield _map(picture.grid, numbers, plane, what, modulus)
        if len(outside) > _PLANES:
            yield f"and {len(outside) - _PLANES:,} more planes\n"


def _map(grid: Grid, numbers: dict[Place, int], plane: Place, what: str, modulus: int) -> str:
    axes, extents = grid.axes, grid.extents
    rows, columns = (extents[-2], extents[-1]) if len(axes) > 1 else (1, extents[-1])
    sides = f"{axes[-2]} down, {axes[-1]} across" if len(axes) > 1 else f"{axes[-1]} across"
    at = "".join(f", {axis} = {i}" for axis, i in zip(axes, plane, strict=False))
    width = max(len(str(modulus - 1)), 1)
    lines = [f"{what} ({sides}{at})"]
    for row in range(min(rows, _ROWS)):
        places = [(*plane, row, column)[-len(axes) :] for column in range(min(columns, _COLUMNS))]
        units = [tuple(map(floordiv, place, grid.sizes)) for place in places]
        cells = [f"{numbers[unit] % modulus:{width}}" for unit in units]
        lines.append(f"  {' '.join(cells)}{' ...' if columns > _COLUMNS else ''}")
    lines += ["  ..."] if rows > _ROWS else []
    return "".join(f"{line}\n" for line in lines)


def _sequences(picture: Picture) -> str:
    worker = "cluster" if picture.clustered else "worker"
    lines = [f"what each {worker} takes"]
    width = len(str(picture.workers - 1))
    for first in range(min(picture.workers, _WORKERS)):
        own = picture.units[first :: picture.workers]
        shown = " ".join(map(_shown, picture.taken(own[:_TILES])))
        rest = f" and {len(own) - _TILES:,} more" if len(own) > _TILES else ""
        lines.append(f"  {first:{width}}: {shown}{rest}".rstrip())
    if picture.workers > _WORKERS:
        lines.append(f"  and {picture.workers - _WORKERS:,} more {worker}s")
    return "".join(f"{line}\n" for line in lines)


def _shown(tile: Place) -> str:
    return f"({', '.join(map(str, tile))})"


# ---- waves -------------------------------------------------------------------------------------------------


def _waves(picture: Picture) -> str:
    total, count = len(picture.units), picture.workers
    waves = -(-total // count)
    last = total - (waves - 1) * count
    fill = f"{total / (waves * count):.1%}".replace("%", " %")
    lines = [f"waves: {waves:,} of {count:,}, the last one of {last:,}; {fill} full"]
    lines.append("how many different tiles of each operand a wave reads")
    taken = picture.taken(picture.units)
    keys = [operand.key(taken) for operand in picture.operands]
    starts = picture.starts()
    known = all(operand.bytes is not None for operand in picture.operands)
    table = [
        ["wave", "tiles", *(operand.name for operand in picture.operands), *(["bytes"] if known else [])]
    ]
    sums = [0] * len(keys)
    shown = range(waves) if waves <= _WAVES + 1 else (*range(_WAVES - 1), waves - 1)
    bytes_ = [operand.bytes or 0 for operand in picture.operands]
    for wave in range(waves):
        first, after = starts[wave], starts[wave + 1]
        distinct = [len(set(key[first:after])) for key in keys]
        sums = [a + b for a, b in zip(sums, distinct, strict=True)]
        if wave in shown:
            read = sum(a * b for a, b in zip(distinct, bytes_, strict=True))
            cells = [*map(_number, (wave, after - first, *distinct)), *([_size(read)] if known else [])]
            table.append(cells)
            if wave == _WAVES - 2 and waves > _WAVES + 1:
                table.append(["..."])
    means = [f"{value / waves:,.1f}" for value in sums]
    read = sum(a * b for a, b in zip(sums, bytes_, strict=True))
    table.append(
        ["mean", f"{starts[-1] / waves:,.1f}", *means, *([_size(round(read / waves))] if known else [])]
    )
    lines += _columns(table)
    if known and picture.operands:
        every = starts[-1] * sum(bytes_)
        lines.append(
            f"loaded through L2: {_size(every)}, of them distinct in their wave: {_size(read)}"
            + (f" ({every / read:.1f} tiles share a byte)" if read else "")
        )
    return "".join(f"{line}\n" for line in lines)


def _number(value: int) -> str:
    return f"{value:,}"


def _size(count: int) -> str:
    for unit, name in ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{count / unit:,.1f} {name}"
    return f"{count:,} B"


def _columns(rows: list[list[str]]) -> list[str]:
    filled = [[*row, *[""] * (len(rows[0]) - len(row))] for row in rows]
    widths = [max(map(len, column)) for column in zip(*filled, strict=True)]
    return [
        "  " + "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in filled
    ]
