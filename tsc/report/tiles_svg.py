"""A picture of tiles as SVG: each tile in its worker's colour with its number, and the way through them."""

from __future__ import annotations

from html import escape

from tsc.report.tiles import Picture
from tsc.tiles.grid import Place

_CELL, _MARGIN, _TITLE, _MOST = 34, 12, 30, 64


def render_svg(picture: Picture) -> str:
    """Draw the first plane of the last two axes, at most 64 x 64 tiles of it."""
    grid = picture.grid
    outside: Place = (0,) * max(0, len(grid.axes) - 2)
    rows, columns = (grid.extents[-2], grid.extents[-1]) if len(grid.axes) > 1 else (1, grid.extents[-1])
    drawn = min(rows, _MOST), min(columns, _MOST)
    cut = "" if drawn == (rows, columns) else f", the first {drawn[0]} x {drawn[1]} of them"
    title = f"{picture.title}: {' x '.join(map(str, grid.extents))} tiles{cut}, {picture.workers} workers"
    width, height = 2 * _MARGIN + max(drawn[1], 12) * _CELL, _TITLE + 2 * _MARGIN + drawn[0] * _CELL
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="11" text-anchor="middle">',
        f"<title>{escape(title)}</title>",
        f'<text x="{_MARGIN}" y="{_TITLE - 10}" text-anchor="start" font-size="12">{escape(title)}</text>',
    ]
    points: list[str] = []
    for number, unit in enumerate(picture.units):
        own = [tile for tile in picture.tiles(unit) if tile[:-2] == outside]
        places = [tile[-2:] if len(tile) > 1 else (0, *tile) for tile in own]
        inside = [(row, column) for row, column in places if row < drawn[0] and column < drawn[1]]
        for row, column in inside:
            x, y = _MARGIN + column * _CELL, _TITLE + _MARGIN + row * _CELL
            lines.append(
                f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" '
                f'fill="{_color(number % picture.workers, picture.workers)}" stroke="#ffffff"/>'
                f'<text x="{x + _CELL // 2}" y="{y + _CELL // 2 + 4}">{number}</text>'
            )
        if inside:
            row, column = inside[0]
            points.append(f"{_MARGIN + column * _CELL + 17},{_TITLE + _MARGIN + row * _CELL + 27}")
    if len(points) > 1:
        way = f'<polyline points="{" ".join(points)}" fill="none" stroke="#000000" stroke-opacity="0.35"/>'
        lines.append(way)
    return "\n".join([*lines, "</svg>", ""])


def _color(worker: int, workers: int) -> str:
    """Neighbours in number get hues far apart."""
    hue = worker * 137.508 % 360 if workers > 8 else 360 * worker / max(1, workers)
    return f"hsl({hue:.0f} 65% 78%)"
