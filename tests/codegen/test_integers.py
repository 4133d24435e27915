"""integers.cuh against Python, in all mixes of 32 and 64 bits; compiled as plain C++."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.codegen.headers import compiled, includes, needs_cpp, run_cpp

INT32 = 2**31
EDGES = (-INT32, -INT32 + 1, -1000, -65, -64, -7, -3, -2, -1, 0, 1, 2, 3, 5, 8, 64, 100, INT32 - 2, INT32 - 1)
WIDE = (*EDGES, -(2**62), -(2**40) - 1, 2**33 + 5, 2**62)


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


FUNCTIONS: dict[str, Callable[[int, int], int | None]] = {
    "floor_div": lambda a, b: a // b if b else None,
    "floor_mod": lambda a, b: a % b if b else None,
    "cdiv": lambda a, b: ceil_div(a, b) if b else None,
    "align_up": lambda a, b: ceil_div(a, b) * b if b else None,
    "smaller": min,
    "larger": max,
    "min": min,
    "max": max,
    "magnitude": lambda a, b: abs(a),
}

PROGRAM = (
    "#include <cstdio>\n"
    + includes("integers")
    + """
static_assert(floor_div(-7, 2) == -4 && floor_mod(-7, 2) == 1 && floor_mod(7, -2) == -1 && cdiv(-7, 2) == -3);
static_assert(align_up(65, 64) == 128 && smaller(3, 4ll) == 3 && larger(3ll, 4) == 4 && magnitude(-3) == 3);
static_assert(sizeof(cdiv(1, 2)) == 4 && sizeof(cdiv(1, 2ll)) == 8 && sizeof(min(1ll, 2)) == 8);

int main() {
  long long a, b;
  while (std::scanf("%lld %lld", &a, &b) == 2) {
    const auto x = static_cast<A>(a);
    const auto y = static_cast<B>(b);
    const long long results[] = {CALLS};
    for (long long result : results) std::printf("%lld\\n", result);
  }
}
"""
)


@needs_cpp
@pytest.mark.parametrize(("a_type", "b_type"), list(itertools.product(("i32", "i64"), repeat=2)))
def test_functions_mean_what_they_mean_in_python(a_type: str, b_type: str, tmp_path: Path) -> None:
    limit = INT32 if (a_type, b_type) == ("i32", "i32") else 2**63
    pairs = [
        (a, b)
        for a in (EDGES if a_type == "i32" else WIDE)
        for b in (EDGES if b_type == "i32" else WIDE)
        if all(value is None or -limit <= value < limit for value in (f(a, b) for f in FUNCTIONS.values()))
        and b != 0
        and a > -(INT32 if a_type == "i32" else 2**63)  # its magnitude has no place in its own type
    ]
    calls = ", ".join(f"{name}(x)" if name == "magnitude" else f"{name}(x, y)" for name in FUNCTIONS)
    source = PROGRAM.replace("CALLS", calls).replace("<A>", f"<{a_type}>").replace("<B>", f"<{b_type}>")
    flags = ["-fsanitize=undefined", "-fno-sanitize-recover"]
    words = run_cpp(source, "\n".join(f"{a} {b}" for a, b in pairs), tmp_path, flags)
    expected = [f(a, b) for a, b in pairs for f in FUNCTIONS.values()]
    assert len(pairs) > 200
    assert [int(word) for word in words] == expected


@needs_cpp
def test_find_gives_the_last_offset_that_is_not_beyond(tmp_path: Path) -> None:
    source = (
        "#include <cstdio>\n"
        + includes("integers")
        + """
struct View {
  const int* data;
  int count;
  int operator()(int i) const { return data[i]; }
  int extent(int) const { return count; }
};
constexpr int fixed[] = {0, 2, 4};
static_assert(find(fixed, 3, 3) == 1);

int main() {
  const int offsets[] = {0, 3, 3, 3, 10, 11};
  for (int count = 0; count <= 6; ++count)
    for (int i = -1; i < 14; ++i)
      std::printf("%d %d\\n", find(offsets, count, i), find(View{offsets, count}, static_cast<long long>(i)));
}
"""
    )
    offsets = [0, 3, 3, 3, 10, 11]
    expected = [
        max((g for g in range(count) if offsets[g] <= i), default=-1)
        for count in range(7)
        for i in range(-1, 14)
    ]
    words = [int(word) for word in run_cpp(source, "", tmp_path)]
    assert words[::2] == expected
    assert words[1::2] == expected


def test_mixed_widths_need_no_cast_on_the_device() -> None:
    kernel = """
constexpr int folded = smaller(3, 4) + larger(1, 2) + magnitude(-5);
extern "C" __global__ void kernel(i32 a, i64 b, i64* y) {
  y[0] = min(a, b) + min(b, a) + max(a, b) + max(b, a) + min(a, 3) + max(b, b) + abs(a) + abs(b) + folded;
}
"""
    assert "min.s64" in compiled(includes("integers") + kernel, "sm_90a").ptx
