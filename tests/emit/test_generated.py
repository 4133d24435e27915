"""What is not generated yet is said at its place, and nothing that is wrong is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emit.kernels import NAMES, document, document_of, program_of, small
from tsc.emit import NotGenerated, emit
from tsc.emit.generated import not_generated, refused
from tsc.program.resolve import resolve
from tsc.source.reader import read
from tsc.source.route import show_route
from tsc.spec.load import to_spec

TESTS = Path(__file__).parents[1]
PARAMS = "params: {x: {dtype: f32, shape: [n, 64]}, y: {dtype: f32, shape: [n, 64]}}"
RING = "  ring: {kind: smem, stages: 2, dtype: f32, shape: [64]}"


def one(*steps: str) -> str:
    return "\n  main:\n    warps: 4\n    schedule:" + "".join(f"\n      - {step}" for step in steps) + "\n"


def found(text: str) -> list[tuple[str, str]]:
    return [(show_route(route), sentence) for route, sentence in not_generated(program_of(document(text)))]


@pytest.mark.parametrize(
    ("text", "route", "words"),
    [
        (
            small(one("{zero: acc}"), "  acc: {kind: registers, dtype: f32, shape: [48, 64]}"),
            "tasks.main.schedule[0]",
            "`acc` is no fragment that `main` can share out",
        ),
        (
            small(
                one("{zero: v}"),
                rest="debug: {trace: [wait]}",
                resources="  v: {kind: registers, dtype: f32, per_thread: 1}",
            ),
            "debug.trace",
            "`trace`",
        ),
        (
            small(
                one("{tma_load: x, at: [0, 0], to: plain}"),
                "  plain: {kind: smem, dtype: f32, shape: [64]}",
                PARAMS,
            ),
            "tasks.main.schedule[0]",
            "`plain` has no stages",
        ),
        (
            small(
                one("{cp_async: x, at: [0, 0], to: plain}"),
                "  plain: {kind: smem, dtype: f32, shape: [64]}",
                PARAMS,
            ),
            "tasks.main.schedule[0]",
            "`plain` has no stages",
        ),
        (
            small(
                one("acquire: ring", "{cp_async: x, at: [0, thread], to: ring}", "commit: ring"),
                RING,
                PARAMS.replace("f32", "bf16"),
            ).replace("dtype: f32, shape: [64]}", "dtype: bf16, shape: [64]}"),
            "tasks.main.schedule[1]",
            "columns at multiples of 4 bytes",
        ),
        (
            small(
                one("acquire: ring", "{bulk_load: x, at: [0, 0], to: ring}", "commit: ring"),
                RING.replace("[64]", "[2, 64]"),
                PARAMS,
            ),
            "tasks.main.schedule[1]",
            "need the promise `packed: true` on `x`",
        ),
        (
            small(
                one("acquire: ring", "{bulk_load: x, at: [0, 0], to: ring, rows: n % 7}", "commit: ring"),
                RING,
                PARAMS,
            ),
            "tasks.main.schedule[1]",
            "`n % 7` is not shown to be a multiple of 4",
        ),
        (
            small(
                one("acquire: ring", "{tma_load: x, at: [0, 0], to: ring}", "commit: ring"),
                RING.replace("f32", "bf16"),
                PARAMS,
            ),
            "tasks.main.schedule[1]",
            "goes between `f32` and `bf16`",
        ),
    ],
)
def test_a_feature_is_refused_at_its_place(text: str, route: str, words: str) -> None:
    refusals = found(text)
    assert [where for where, _ in refusals] == [route]
    assert words in refusals[0][1]
    with pytest.raises(NotGenerated):
        emit(program_of(document(text)))


def test_a_bulk_copy_that_may_leave_its_tensor_is_a_finding_of_its_own() -> None:
    text = small(one("acquire: ring", "{bulk_load: x, at: [n, 0], to: ring}", "commit: ring"), RING, PARAMS)
    assert found(text) == []
    (fault,) = refused(program_of(document(text)))
    assert fault.rule == "bulk-copy-outside"
    assert show_route(fault.route) == "tasks.main.schedule[1]"
    assert fault.sentence == "`bulk_load` is never clipped, and this piece is not shown to lie inside `x`"


@pytest.mark.parametrize("name", NAMES)
def test_what_is_generated_is_not_refused(name: str) -> None:
    program = program_of(document_of(name))
    assert refused(program) == ()


SPECS = sorted(TESTS.joinpath("rules").rglob("*.tsc.yaml"))


@pytest.mark.parametrize("path", SPECS, ids=lambda path: str(path.relative_to(TESTS / "rules")))
def test_no_spec_breaks_the_generator(path: Path) -> None:
    reading = read(str(path))
    if reading.document is None:
        return
    spec, _ = to_spec(reading.document)
    if spec is None:
        return
    program = resolve(spec, path.name, path.parent)
    faults = refused(program)
    try:
        assert emit(program, headers=False, document=reading.document)
    except NotGenerated:
        return
    assert faults == ()
