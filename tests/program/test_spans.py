"""The bytes of resources: stages, buffers, copies and overlays, never outside of what they lie over."""

from __future__ import annotations

import pytest

from tests.program.build import HEAD, program
from tsc.program.model import Memory
from tsc.program.spans import Span, meet, spans


def memories(*lines: str, replicas: int = 1) -> dict[str, Memory]:
    body = "".join(f"  {line}\n" for line in lines)
    tasks = f"tasks: {{t: {{warps: 1, replicas: {replicas}, schedule: [task_sync]}}}}\n"
    return dict(program(f"launch: {{grid: [1]}}\nresources:\n{body}{tasks}", head=HEAD).memories)


def test_stages_and_buffers() -> None:
    found = memories(
        "first: {kind: smem, dtype: u8, shape: [16]}",
        "r: {kind: smem, stages: 2, buffers: {a: {dtype: f32, shape: [60]}, b: {dtype: u8, shape: [5]}}}",
    )["r"]
    assert spans(found) == ((16, 272), (272, 528))
    assert spans(found, 0, found.buffers[0]) == ((16, 256), (272, 512))
    assert spans(found, 0, found.buffers[1]) == ((256, 261), (512, 517))


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ("over: r", [((0, 64),), ((256, 320),)]),
        ("over: {of: r, stage: 1}", [((128, 192),), ((384, 448),)]),
        ("over: 'r[1]'", [((256, 320),), ((320, 384),)]),
        ("over: {of: 'r[1]', stage: 1}", [((384, 448),), ((448, 512),)]),
    ],
)
def test_copies_lie_on_copies_unless_one_is_named(over: str, expected: list[tuple[Span, ...]]) -> None:
    found = memories(
        "r: {kind: smem, per: t, stages: 2, dtype: f32, shape: [32]}",
        f"o: {{kind: smem, per: t, dtype: f32, shape: [16], {over}}}",
        replicas=2,
    )
    assert [spans(found["o"], copy) for copy in range(2)] == expected
    inside = [span for copy in range(2) for span in spans(found["r"], copy)]
    assert all(meet((span,), inside) for copy in expected for span in copy)


def test_what_has_no_bytes() -> None:
    found = memories("s: {kind: signal}", "a: {kind: smem, dtype: f32, shape: [4], over: a}")
    assert spans(found["s"]) == spans(found["a"]) == ()


def test_neighbours_do_not_meet() -> None:
    assert not meet(((0, 16),), ((16, 32), (48, 64)))
    assert meet(((0, 17),), ((48, 64), (16, 32)))
