"""The orders themselves: their numbering, and that each tile is taken exactly once."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tiles.base import CLUSTERS, GROUPED, UNGROUPED, grid, name_of, orders
from tsc.expr import Expr, build, evaluate
from tsc.expr.tree import Choice, walk
from tsc.tiles.grid import Grid, Place
from tsc.tiles.hilbert import place
from tsc.tiles.walk import INDEX, Curve

FAR = 2**31 - 1


def numbering(found: Grid) -> list[list[int]]:
    rows, columns = found.units
    numbers = {at: number for number, at in enumerate(found.places())}
    return [[numbers[row, column] for column in range(columns)] for row in range(rows)]


def rectangle(*extents: int) -> list[Place]:
    return list(product(*map(range, extents)))


@pytest.mark.parametrize(
    ("order", "extents", "expected"),
    [
        (
            {"kind": "group_major", "along": "m", "group": 2},
            (4, 4),
            [[0, 2, 4, 6], [1, 3, 5, 7], [8, 10, 12, 14], [9, 11, 13, 15]],
        ),
        (
            {"kind": "serpentine", "along": "n", "group": 2},
            (4, 4),
            [[0, 1, 14, 15], [2, 3, 12, 13], [4, 5, 10, 11], [6, 7, 8, 9]],
        ),
        (
            {"kind": "serpentine", "along": "n", "group": 2, "reverse_rows": False},
            (4, 4),
            [[0, 1, 12, 13], [2, 3, 14, 15], [4, 5, 8, 9], [6, 7, 10, 11]],
        ),
        (
            # Ragged on both edges: the far block of an upward strip has one row, and comes first.
            {"kind": "serpentine", "along": "n", "group": 2, "reverse_rows": False},
            (5, 3),
            [[0, 1, 13], [2, 3, 14], [4, 5, 11], [6, 7, 12], [8, 9, 10]],
        ),
        (
            {"kind": "group_major", "along": "m", "group": 2},
            (3, 2),
            [[0, 2], [1, 3], [4, 5]],
        ),
        ({"kind": "linear", "reverse": ["n"]}, (2, 3), [[2, 1, 0], [5, 4, 3]]),
        ({"kind": "linear", "reverse": ["m"]}, (2, 3), [[3, 4, 5], [0, 1, 2]]),
        ({"kind": "hilbert"}, (2, 2), [[0, 1], [3, 2]]),
        (
            # Heads are `m` here, two of them share what L2 holds, and work grows along `n`.
            {"kind": "longest_first", "along": "n", "group": 2},
            (3, 3),
            [[4, 2, 0], [5, 3, 1], [8, 7, 6]],
        ),
    ],
    ids=lambda it: name_of(it) if isinstance(it, dict) else None,
)
def test_the_numbering(order: Mapping[str, Any], extents: Place, expected: list[list[int]]) -> None:
    assert numbering(grid(order, extents)) == expected


def test_the_hilbert_curve_of_four_is_the_known_one() -> None:
    found = numbering(grid({"kind": "hilbert"}, (4, 4)))
    assert found == [[0, 3, 4, 5], [1, 2, 7, 6], [14, 13, 8, 9], [15, 12, 11, 10]]


def test_workers_take_what_they_should() -> None:
    places = grid({"kind": "group_major", "along": "m", "group": 2}, (4, 4)).places()
    assert places[0::3] == [(0, 0), (1, 1), (0, 3), (3, 0), (2, 2), (3, 3)]
    assert places[2::3] == [(0, 1), (1, 2), (2, 0), (3, 1), (2, 3)]


@pytest.mark.parametrize("order", orders(1, 2, 3, 4, 5, 6, 7, 8, 9), ids=name_of)
def test_each_unit_is_taken_once(order: Mapping[str, Any]) -> None:
    for m, n in product(range(1, 15), repeat=2):
        assert sorted(grid(order, (m, n)).places()) == rectangle(m, n), (m, n)


@pytest.mark.parametrize("order", orders(8), ids=name_of)
@pytest.mark.parametrize("extents", [(64, 64), (64, 63), (61, 64), (1, 64), (64, 1), (9, 13)])
def test_each_unit_of_a_larger_grid_is_taken_once(order: Mapping[str, Any], extents: Place) -> None:
    assert sorted(grid(order, extents).places()) == rectangle(*extents)


@pytest.mark.parametrize("order", orders(1, 3, 4), ids=name_of)
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_each_tile_is_taken_once_by_ragged_clusters_too(order: Mapping[str, Any], cluster: Place) -> None:
    for m, n in product(range(1, 10), repeat=2):
        found = grid(order, (m, n), cluster=cluster)
        tiles = [tile for unit in found.places() for tile in found.tiles(unit)]
        assert len(tiles) == found.count * cluster[0] * cluster[1]
        assert sorted(filter(found.inside, tiles)) == rectangle(m, n), (m, n)
        for unit in found.places():
            # The CTAs of a cluster stand side by side, the first axis first, and one of them is inside.
            first, *_ = own = list(found.tiles(unit))
            assert own == [(first[0] + i, first[1] + j) for j in range(cluster[1]) for i in range(cluster[0])]
            assert found.inside(first)


@pytest.mark.parametrize("axes", [("b", "m", "n"), ("m", "b", "n"), ("b", "h", "n", "m")])
@pytest.mark.parametrize("order", orders(2, 3), ids=name_of)
def test_further_axes_ride_outside(order: Mapping[str, Any], axes: tuple[str, ...]) -> None:
    extents = (2, 3, 5, 4)[: len(axes)]
    found = grid(order, extents, axes).places()
    assert sorted(found) == rectangle(*extents)
    if order["kind"] in ("group_major", "serpentine", "hilbert"):
        pair = {axes[-1], order.get("along", axes[-2])}
        if len(pair) == 1:
            pair.add(axes[-2])
        outside = [i for i, axis in enumerate(axes) if axis not in pair]
        planes = [tuple(place[i] for i in outside) for place in found]
        # In their written order, each plane whole before the next.
        assert planes == sorted(planes)


@pytest.mark.parametrize("order", orders(3), ids=name_of)
def test_one_axis_is_an_order_too(order: Mapping[str, Any]) -> None:
    if order.get("along", "m") == "m" and "n" not in order.get("reverse", []):
        backwards = order["kind"] == "longest_first" or "reverse" in order
        expected = [(i,) for i in range(7)]
        assert grid(order, (7,), ("m",)).places() == (expected[::-1] if backwards else expected)


def test_each_step_of_the_hilbert_curve_goes_to_a_neighbour() -> None:
    large = [(63, 64), (64, 63), (33, 128), (2, 99), (99, 2)]
    for extents in [*product(range(1, 15), repeat=2), *large]:
        found = grid({"kind": "hilbert"}, extents).places()
        assert all(abs(a - c) + abs(b - d) == 1 for (a, b), (c, d) in pairwise(found)), extents


def test_a_table_says_where_to_go() -> None:
    class Table:
        def __getitem__(self, at: tuple[int, int]) -> int:
            return [[1, 0], [0, 0], [0, 1], [1, 1]][at[0]][at[1]]

    found = grid({"kind": "table", "from": "order"}, (2, 2), tables={"table": Table()})
    assert found.places() == [(1, 0), (0, 0), (0, 1), (1, 1)]
    assert [found.place(i) for i in range(4)] == found.places()


# ---- far beyond --------------------------------------------------------------------------------------------


@st.composite
def far(draw: st.DrawFn) -> Grid:
    """A grid of up to 2^62 units of any order, of up to four axes."""
    order = draw(st.sampled_from([*UNGROUPED, *GROUPED]))
    axes = draw(st.sampled_from([("m", "n"), ("n", "m"), ("b", "m", "n"), ("m", "h", "b", "n")]))
    bits = draw(st.integers(0, 31 if len(axes) == 2 else 20 if len(axes) == 3 else 15))
    extents = tuple(draw(st.integers(1, max(1, 2**bits - 1))) for _ in axes)
    if "group" not in order and order["kind"] not in ("linear", "hilbert"):
        largest = draw(st.sampled_from([4, 64, FAR, 2**40]))
        order = {**order, "group": draw(st.integers(1, largest))}
    return grid(order, extents, axes)


def numbers(found: Grid) -> st.SearchStrategy[int]:
    last = found.count - 1
    return st.one_of(st.integers(0, last), st.integers(max(0, last - 9), last), st.integers(0, min(9, last)))


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_two_numbers_are_never_at_one_place(data: st.DataObject) -> None:
    """Injective over a finite set of its own size: so each unit is taken once, however many there are."""
    found = data.draw(far())
    first, second = data.draw(numbers(found)), data.draw(numbers(found))
    places = found.place(first), found.place(second)
    assert all(0 <= at < extent for place in places for at, extent in zip(place, found.units, strict=True))
    assert (places[0] == places[1]) == (first == second)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_curve_through_a_large_plane_goes_to_neighbours(data: st.DataObject) -> None:
    sides = st.integers(1, FAR)
    found = grid({"kind": "hilbert"}, (data.draw(sides), data.draw(sides)))
    number = data.draw(numbers(found))
    here, there = found.place(number), found.place(min(number + 1, found.count - 1))
    assert sum(abs(a - b) for a, b in zip(here, there, strict=True)) == (here != there)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_no_step_of_a_walk_passes_the_number_of_units(data: st.DataObject) -> None:
    """What lets the generator print a walk in 32 bits wherever the units fit them."""
    found = data.draw(far())
    extents = zip(found.axes, found.units, strict=True)
    env: dict[str, Any] = {f"units.{axis}": extent for axis, extent in extents}
    env |= {**found.options, INDEX: data.draw(numbers(found))}
    for step in found.walk.steps:
        if isinstance(step, Curve):
            given = [evaluate(expr, env) for expr in (step.number, *step.extents)]
            env.update(zip(step.names, step.twin(*given), strict=True))
            continue
        env[step.name] = evaluate(step.value, env)
        assert 0 <= env[step.name] <= found.count, step.name
        _stays(step.value, env, found.count)
    for expr in found.walk.coordinates.values():
        _stays(expr, env, found.count)


def _stays(expr: Expr, env: Mapping[str, Any], most: int) -> None:
    tree = expr.tree
    if isinstance(tree, Choice):
        tree = tree.then if evaluate(build(tree.test), env) else tree.other
    for node in walk(tree):
        own = build(node)
        if own.free and own.free != {"group"}:
            assert -1 <= evaluate(own, env) <= most, own.text


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_listing_is_the_walk(data: st.DataObject) -> None:
    order = data.draw(st.sampled_from(orders(1, 2, 5, 8)))
    axes = data.draw(st.sampled_from([("m", "n"), ("b", "m", "n")]))
    found = grid(order, tuple(data.draw(st.integers(0, 12)) for _ in axes), axes)
    assert found.places() == [found.place(i) for i in range(found.count)]


@pytest.mark.parametrize("extents", [(1, 1), (40, 57), (64, 100), (129, 65), (1, 2000), (2000, 1), (33, 32)])
def test_the_listing_of_a_curve_is_the_curve(extents: Place) -> None:
    found = grid({"kind": "hilbert"}, extents)
    assert found.places() == [place(i, *extents) for i in range(found.count)]


@pytest.mark.parametrize("order", orders(3), ids=name_of)
def test_no_tiles_are_no_places(order: Mapping[str, Any]) -> None:
    assert grid(order, (0, 5)).places() == grid(order, (5, 0)).places() == []
