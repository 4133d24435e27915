"""Orders that are none: each is refused by the rule that is for it, at its place."""

from __future__ import annotations

import pytest

from tsc.check import check_reading
from tsc.diagnostics.model import Diagnostic, Severity
from tsc.source import parse
from tsc.spec.overrides import parse_overrides

SPEC = """tsc: 1
kernel: k
target: sm_90a
constants: {NONE: 0}
params:
  listed: {dtype: i32, shape: [tiles, 2]}
  floats: {dtype: f32, shape: [tiles, 2]}
  wide: {dtype: i32, shape: [tiles, 3]}
  y: {dtype: f32, shape: [m, n]}
resources:
  work_tiles: {kind: queue, policy: static, axes: {m: 8, n: 8}, ORDER}
tasks:
  main:
    warps: 1
    schedule: [{work_tile_loop: work_tiles, body: [task_sync]}]
"""
LINE = SPEC.split("\n").index("  work_tiles: {kind: queue, policy: static, axes: {m: 8, n: 8}, ORDER}") + 1


def errors_of(order: str) -> list[Diagnostic]:
    reading = parse(SPEC.replace("ORDER", f"order: {order}"), "spec.tsc.yaml", "yaml")
    report = check_reading(reading, parse_overrides((), ()))
    return [it for it in report.diagnostics if it.severity is Severity.ERROR]


@pytest.mark.parametrize(
    ("order", "rule", "words"),
    [
        ("{kind: group_major, along: m, group: 0}", "misfit-tile-order", "has 0 tiles, and the least is 1"),
        ("{kind: group_major, along: m, group: NONE}", "misfit-tile-order", "has 0 tiles"),
        ("{kind: serpentine, along: m, group: -3}", "misfit-tile-order", "has -3 tiles"),
        ("{kind: longest_first, along: m, group: 0}", "misfit-tile-order", "has 0 tiles"),
        ("{kind: group_major, along: m, group: m}", "value-known-too-late", "known at launch"),
        ("{kind: group_major, along: m, group: TWO}", "unknown-name", "`TWO`"),
        ("{kind: group_major, along: k, group: 2}", "unknown-order-axis", "`k` is no axis of `work_tiles`"),
        ("{kind: longest_first, along: tile}", "bad-name", "`tile` is reserved"),
        ("{kind: linear, reverse: [k]}", "unknown-order-axis", "`k` is no axis"),
        ("{kind: linear, reverse: [m, m]}", "unknown-order-axis", "`m` is reversed twice"),
        ("{kind: linear, along: m}", "unknown-key", "`along`"),
        ("{kind: hilbert, group: 2}", "unknown-key", "`group`"),
        ("{kind: group_major, along: m}", "missing-key", "`group`"),
        ("{kind: serpentine, group: 2}", "missing-key", "`along`"),
        ("{kind: zigzag}", "unknown-kind", "is one of `linear`, `group_major`, `serpentine`, `hilbert`"),
        ("hilbert", "unknown-kind", "an order is a mapping with a `kind`"),
        ("[{kind: linear}, {kind: hilbert}]", "unknown-kind", "an order is a mapping with a `kind`"),
        ("{kind: linear, kind: hilbert}", "duplicate-key", "`kind`"),
        ("{kind: linear}, order: {kind: hilbert}", "duplicate-key", "`order`"),
        ("{kind: table}", "missing-key", "`from`"),
        ("{kind: table, from: list}", "misfit-tile-order", "`list` is no tensor param"),
        ("{kind: table, from: floats}", "misfit-tile-order", "is a table of f32"),
        ("{kind: table, from: wide}", "misfit-tile-order", "has 2 axes"),
    ],
)
def test_an_order_that_is_none(order: str, rule: str, words: str) -> None:
    errors = errors_of(order)
    found = [(it.name, it.span.start.line) for it in errors]
    assert found == [(rule, LINE)], [it.message for it in errors]
    assert words in errors[0].message


@pytest.mark.parametrize(
    "order",
    [
        "{kind: linear, reverse: [n, m]}",
        "{kind: group_major, along: n, group: 9}",
        "{kind: serpentine, along: n, group: 4 - 3, reverse_rows: false}",
        "{kind: hilbert}",
        "{kind: longest_first, along: m}",
        "{kind: table, from: listed}",
    ],
)
def test_an_order_that_is_one(order: str) -> None:
    assert [it.message for it in errors_of(order)] == []
