"""ring.cuh: a cursor against a counter of all stages it has passed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.codegen.headers import compiled, includes, needs_cpp, run_cpp

PROGRAM = (
    "#include <cstdio>\n"
    + includes("ring")
    + """
template <int COUNT, int STAGES> Cursor<STAGES> skipped(Cursor<STAGES> cursor) {
  cursor.template skip<COUNT>();
  return cursor;
}

int main() {
  Cursor<STAGES> cursor;
  long long step;
  while (std::scanf("%lld", &step) == 1) {
    if (step == 1) cursor.advance();
    else if (step < 100) cursor.skip(static_cast<int>(step));
    else if (step == 100) cursor = skipped<100>(cursor);
    else cursor.skip(step);
    std::printf("%u %u\\n", static_cast<u32>(cursor.stage), cursor.phase);
  }
}
"""
)


@needs_cpp
@pytest.mark.parametrize("stages", [1, 2, 3, 4, 7])
def test_cursor_counts_like_an_integer(stages: int, tmp_path: Path) -> None:
    steps = random.Random(stages).choices([0, 1, 1, 1, 2, 3, 5, 12, 100, 2**33 + 3], k=500)
    source = PROGRAM.replace("Cursor<STAGES> cursor;", f"Cursor<{stages}> cursor;")
    words = run_cpp(source, "\n".join(map(str, steps)), tmp_path)
    passed, expected = 0, []
    for step in steps:
        passed += step
        expected += [passed % stages, passed // stages % 2]
    assert [int(word) for word in words] == expected


@pytest.mark.parametrize("stages", [1, 3, 4])
def test_advance_divides_nothing(stages: int) -> None:
    kernel = f"""
extern "C" __global__ void kernel(u32* y, int n) {{
  Cursor<{stages}> cursor;
  for (int i = 0; i < n; ++i, cursor.advance()) y[i] = cursor.stage + cursor.phase;
}}
"""
    ptx = compiled(includes("ring") + kernel, "sm_90a").ptx
    assert not any(word in ptx for word in ("div.", "rem.", "mul.hi", "mul.wide.u32"))
