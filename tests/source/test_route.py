"""Routes as text."""

from __future__ import annotations

import pytest

from tsc.source.route import Route, show_route


@pytest.mark.parametrize(
    ("route", "text"),
    [
        ((), ""),
        (("tasks", "load", "schedule", 0, "acquire"), "tasks.load.schedule[0].acquire"),
        ((0, "a"), "[0].a"),
        (("tile.m", 'a"b', "c\\d", ""), '"tile.m"."a\\"b"."c\\\\d".""'),
        (("on-line",), "on-line"),
    ],
)
def test_show_route(route: Route, text: str) -> None:
    assert show_route(route) == text
