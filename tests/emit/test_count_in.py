"""`count_in`: what it publishes, whom it tells, and what the proof says without it."""

from __future__ import annotations

import pytest

from tests.emit.kernels import HEADER, cuda, document
from tsc.check import Report, check_reading
from tsc.source.reader import parse
from tsc.spec.overrides import parse_overrides
from tsc.toolchain.build import compile_source

LAST = "  last: {kind: registers, dtype: bool, per_thread: 1}\n"
VALUES = "  v: {kind: registers, dtype: f32, per_thread: 1}\n"


def spec(body: str, *, warps: int = 4, rest: str = "", resources: str = "", shape: str = "n") -> str:
    """A task whose last CTA goes on; each CTA has a row."""
    return (
        f"{HEADER}params: {{x: {{dtype: f32, shape: [n, 256]}}, y: {{dtype: f32, shape: [n, 256]}}}}\n"
        f"workspace: {{made: {{dtype: f32, shape: [n, 256]}}, came: {{dtype: i32, shape: [{shape}], "
        f"zero: once}}}}\nlaunch: {{grid: [n]}}\nresources:\n{LAST}{VALUES}{resources}{rest}"
        f"tasks:\n  main:\n    warps: {warps}\n    schedule:\n" + body
    )


MAKES = """\
      - {load: v, from: x, at: [block.x, thread]}
      - {store: made, from: v, at: [block.x, thread]}
"""
COUNTS = "      - {count_in: came, at: [block.x // 8], of: 8, last: last}\n"
READS = """\
      - when: last
        then:
          - {load: v, from: made, at: [0, 127 - thread]}
          - {store: y, from: v, at: [0, thread]}
          - {store: made, from: v, at: [1, thread]}
          - {load: v, from: made, at: [1, 127 - thread]}
          - {store: y, from: v, at: [1, thread]}
"""


def report(text: str) -> Report:
    return check_reading(parse(text, "spec.tsc.yaml", "yaml"), parse_overrides((), ()))


def said(text: str) -> list[str]:
    return [found.name for found in report(text).found]


def statements(text: str) -> list[str]:
    lines = [line.strip() for line in cuda(document(text), headers=False).splitlines()]
    return lines[next(i for i, line in enumerate(lines) if "_task(" in line) :]


def test_all_threads_count_once_and_hear_the_same() -> None:
    lines = statements(spec(MAKES + COUNTS + READS))
    at = next(i for i, line in enumerate(lines) if "count_in<" in line)
    assert lines[at] == "last[0] = count_in<8, false, false>(task, counter_at<false>(came, block_x / 8));"
    # It meets by itself, and what differs in no thread leaves room for a sync behind the condition.
    assert "task.sync();" not in lines[:at]
    assert lines[at + 1] == "if (last[0]) {"
    assert "task.sync();" in lines[at + 2 :]


def test_a_counter_that_is_surely_there_is_not_looked_at() -> None:
    own, next_one = COUNTS.replace(" // 8", ""), COUNTS.replace("// 8", "+ 1")
    assert any("counter_at<false>(came, block_x)" in line for line in statements(spec(own)))
    assert any("counter_at<true>(came, block_x + 1)" in line for line in statements(spec(next_one)))


@pytest.mark.parametrize("warps", [1, 4])
@pytest.mark.parametrize("shape, at", [("n", "[block.x // 8]"), ("1, n, 2", "[0, block.x // 8, 1]")])
def test_it_compiles(warps: int, shape: str, at: str) -> None:
    text = spec(MAKES + COUNTS.replace("[block.x // 8]", at) + READS, warps=warps, shape=shape)
    built = compile_source(cuda(document(text)), {}, "sm_90a")
    assert built.diagnostics == () and built.usage.spill_stores == 0


def test_stores_are_written_before_it_counts() -> None:
    ring = "  out: {kind: smem, stages: 2, dtype: f32, shape: [256]}\n"
    stores = """\
      - acquire: out
      - {store: out, from: v, at: [thread]}
      - commit: out
      - {tma_store: made, at: [block.x, 0], from: out}
"""
    loads = MAKES.splitlines(keepends=True)[0]
    text = spec(loads + stores + COUNTS + READS, resources=ring)
    assert said(text) == []
    assert any("count_in<8, true, false>" in line for line in statements(text))
    assert said(spec(loads + stores + READS.replace("when: last", "when: n > 8"), resources=ring)) != []


def test_what_engines_read_later_is_fenced_on_both_sides() -> None:
    ring = "  got: {kind: smem, stages: 2, dtype: f32, shape: [256]}\n"
    loads = """\
      - when: last
        then:
          - acquire: got
          - {bulk_load: made, at: [0, 0], to: got}
          - commit: got
          - wait: got
          - release: got
"""
    lines = statements(spec(MAKES + COUNTS + loads, resources=ring))
    at = next(i for i, line in enumerate(lines) if "count_in<" in line)
    assert "count_in<8, false, true>" in lines[at]
    assert "fence_proxy_async_global();" in lines[:at]


def test_a_part_of_the_task_cannot_count() -> None:
    apart = COUNTS.replace("      - ", "      - when: warp == 0\n        then:\n          - ", 1)
    assert "divergent-control" in said(spec(MAKES + apart))


def test_its_word_is_no_promise_of_the_author() -> None:
    ring = "  out: {kind: smem, stages: 2, dtype: f32, shape: [256]}\n"
    stores = """\
      - when: last
        then:
          - acquire: out
          - {store: out, from: v, at: [thread]}
          - commit: out
          - {tma_store: y, at: [block.x, 0], from: out}
"""
    found = report(spec(MAKES + COUNTS + stores, resources=ring))
    assert found.judgement is not None and found.judgement.outcome == "proved"
    assert found.judgement.promises == ()
