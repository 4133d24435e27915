"""The generated code of every order, compiled as plain C++: it computes what the walk says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.codegen.headers import compiled, includes, needs_cpp, run_cpp
from tests.emit.kernels import cuda, document, program_of
from tests.tiles.base import CLUSTERS, GROUPED, GROUPS, UNGROUPED, grid, name_of, orders
from tsc.emit.kernel import Kernel
from tsc.emit.render import _environment
from tsc.emit.tiles import tile_plan
from tsc.tiles.grid import Grid

SPEC = """tsc: 1
kernel: k
target: sm_90a
CONSTANTS
params: {order: {dtype: i32, shape: [tiles, AXES]}}
launch: {cluster: {CLUSTER}}
resources:
  tiles: {kind: queue, policy: POLICY, axes: {EXTENTS}, order: ORDER}
  v: {kind: registers, dtype: f32, per_thread: 1}
tasks:
  main: {warps: 1, schedule: [{work_tile_loop: tiles, body: [{zero: v}]}]}
"""


def struct(
    order: Mapping[str, Any],
    axes: tuple[str, ...] = ("m", "n"),
    policy: str = "static",
    cluster: tuple[int, ...] = (1, 1),
    sizes: Mapping[str, int] | None = None,
) -> str:
    """The C++ of an order's tiles, as a kernel has it."""
    written = str(dict(order)).replace("False", "false").replace("'", "")
    shares = dict(zip(axes[-2:], cluster, strict=True)) if max(cluster) > 1 else {}
    constants = (
        "" if sizes is None else "constants: {" + ", ".join(f"{k}: {v}" for k, v in sizes.items()) + "}"
    )
    text = SPEC.replace("CONSTANTS", constants).replace("AXES", str(len(axes))).replace("ORDER", written)
    text = text.replace("EXTENTS", ", ".join(f"{axis}: {axis}" for axis in axes)).replace("POLICY", policy)
    text = text.replace("CLUSTER", ", ".join(f"{axis}: {size}" for axis, size in shares.items()))
    if sizes is None:
        text = text.replace("params: {", f"params: {{x: {{dtype: i32, shape: [{', '.join(axes)}]}}, ")
    kernel = Kernel(program_of(document(text)))
    kernel.tile_fields |= set(axes)
    plan = tile_plan(kernel, False)
    assert plan is not None
    return str(_environment().get_template("tiles.cuh.j2").render(tile=plan))


START = (
    "#include <cstdio>\n#include <vector>\n"
    + includes("integers", "divisor", "hilbert")
    + "static u32 own_rank = 0;\ninline u32 cluster_rank() { return own_rank; }\n"
    "template <class T, int R> struct Tensor { T* data; T operator()(i64 i, i64 j) const "
    "{ return data[2 * i + j]; } };\n"
)


@needs_cpp
def test_every_tile_of_every_small_grid_is_taken_once(tmp_path: Path) -> None:
    """All grids to 64 x 64 tiles for all groups; and for all clusters, those that are ragged included."""
    spaces, calls = [], []

    def add(order: Mapping[str, Any], policy: str, cluster: tuple[int, ...]) -> None:
        text = struct(order, policy=policy, cluster=cluster)
        at = len(spaces)
        spaces.append(f"namespace order_{at} {{\n{text}\n}}")
        takes_m = "m_units" in text.partition("DEVICE")[0]
        given = "m, n" if takes_m else "n"
        calls.append(
            f"check<order_{at}::Tiles>({cluster[0]}, {cluster[1]}, [](int m, int n) "
            f"{{ static_cast<void>(m); return order_{at}::Tiles{{{given}}}; }});"
        )

    for order in orders(*GROUPS):
        add(order, "static", (1, 1))
    for cluster in CLUSTERS:
        for order in orders(3):
            add(order, "grid" if cluster == (1, 1) else "static", cluster)
    check = """
template <class TILES, class MAKE> void check(int rows, int columns, MAKE make) {
  const int ranks = rows * columns;
  std::vector<int> seen(65 * 65);
  long long faults = 0;
  for (int m = 1; m <= 64; ++m)
    for (int n = 1; n <= 64; ++n) {
      std::fill(seen.begin(), seen.end(), 0);
      const int m_units = cdiv(m, rows), n_units = cdiv(n, columns);
      for (own_rank = 0; own_rank < static_cast<u32>(ranks); ++own_rank) {
        const TILES tiles = make(m_units, n_units);
        for (int unit = 0; unit < m_units * n_units; ++unit) {
          const auto tile = tiles.at(unit);
          if (tile.m < 0 || tile.n < 0 || tile.m >= m_units * rows || tile.n >= n_units * columns) ++faults;
          else if (tile.m < m && tile.n < n) ++seen[tile.m * 65 + tile.n];
        }
      }
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) faults += seen[i * 65 + j] != 1;
    }
  std::printf("%lld\\n", faults);
}
"""
    main = "int main() {\n" + "\n".join(calls) + "\n}\n"
    program = "#include <algorithm>\n" + START + "\n".join(spaces) + check + main
    assert run_cpp(program, "", tmp_path, ["-O2"]) == ["0"] * len(calls)


# ---- against the walk --------------------------------------------------------------------------------------


def samples(rng: Random, found: Grid) -> Iterator[int]:
    last = found.count - 1
    for _ in range(6):
        yield rng.randint(0, last)
    yield from {0, last, min(1, last), max(0, last - 1), last // 2}


def sized(rng: Random, axes: int, most: int) -> tuple[int, ...]:
    """Extents whose product is at most so many, and not seldom close to it."""
    extents, left = [], most
    for i in range(axes):
        largest = left if i == axes - 1 else round(left ** rng.random())
        extents.append(rng.choice([max(1, largest), rng.randint(1, max(1, largest)), min(largest, 1 + i)]))
        left //= extents[-1]
    rng.shuffle(extents)
    return tuple(extents)


COMPARED = [
    *((order, axes, "static") for order in orders(2, 7) for axes in (("m", "n"), ("n", "b", "m"))),
    *((order, ("m", "n"), "grid") for order in orders(3)),
    *((order, ("b", "h", "m", "n"), "static") for order in orders(8)),
    *(({**order, "group": 2**40}, ("m", "n"), "static") for order in GROUPED),
]


@needs_cpp
def test_the_code_computes_the_walk(tmp_path: Path) -> None:
    """Numbers of units up to 2^31 - 1, with a sanitizer that ends the program where a step overflows."""
    rng = Random(4)
    spaces, cases, stdin, expected = [], [], [], []
    for at, (order, axes, policy) in enumerate(COMPARED):
        text = struct(order, axes, policy)
        spaces.append(f"namespace order_{at} {{\n{text}\n}}")
        members = text.partition("struct Tiles {")[2].partition("DEVICE")[0]
        given = ", ".join(f"extents[{i}]" for i, axis in enumerate(axes) if f" {axis}_units;" in members)
        shown = " ".join(f'std::printf("%d ", tile.{axis});' for axis in axes)
        cases.append(
            f"case {at}: {{ const auto tile = order_{at}::Tiles{{{given}}}.at(number); {shown} break; }}"
        )
        for _ in range(12):
            found = grid(order, sized(rng, len(axes), 2**31 - 1), axes)
            for number in samples(rng, found):
                padded = (*found.units, 1, 1)[:4]
                stdin.append(" ".join(map(str, (at, number, *padded))))
                expected.append((dict(order), found.units, number, found.place(number)))
    program = START + "\n".join(spaces) + MAIN.replace("CASES", "\n    ".join(cases)).replace("TYPE", "int")
    flags = ["-O0", "-fsanitize=signed-integer-overflow,integer-divide-by-zero", "-fno-sanitize-recover"]
    words = iter(run_cpp(program, "\n".join(stdin), tmp_path, flags))
    got = [
        (order, units, number, tuple(int(next(words)) for _ in at)) for order, units, number, at in expected
    ]
    assert got == expected


MAIN = """
int main() {
  int which;
  long long number, a[4];
  while (std::scanf("%d %lld %lld %lld %lld %lld", &which, &number, a, a + 1, a + 2, a + 3) == 6) {
    const TYPE extents[4] = {TYPE(a[0]), TYPE(a[1]), TYPE(a[2]), TYPE(a[3])};
    switch (which) {
    CASES
    }
  }
}
""".replace(".at(number)", ".at(static_cast<TYPE>(number))")


@needs_cpp
def test_more_tiles_than_32_bits_can_count(tmp_path: Path) -> None:
    """Where the spec itself has more than 2^31 tiles, the code counts them in 64 bits."""
    rng = Random(5)
    spaces, cases, stdin, expected = [], [], [], []
    sizes = [{"m": 70_000, "n": 70_001}, {"m": 3, "n": 2**31 - 1}, {"m": 2**31 - 1, "n": 2**31 - 1}]
    for order in orders(8):
        for size in sizes:
            at = len(spaces)
            text = struct(order, sizes=size)
            assert "i64 index" in text and "i64 count()" in text
            spaces.append(f"namespace order_{at} {{\n{text}\n}}")
            shown = 'std::printf("%d %d ", tile.m, tile.n);'
            cases.append(
                f"case {at}: {{ const order_{at}::Tiles tiles{{extents[0], extents[1]}};\n"
                f"      if (tiles.count() != a[0] * a[1]) return 1;\n"
                f"      const auto tile = tiles.at(number); {shown} break; }}"
            )
            found = grid(order, (size["m"], size["n"]))
            for number in samples(rng, found):
                stdin.append(" ".join(map(str, (at, number, *found.units, 1, 1))))
                expected.append((dict(order), found.units, number, found.place(number)))
    program = START + "\n".join(spaces) + MAIN.replace("CASES", "\n    ".join(cases)).replace("TYPE", "i64")
    flags = ["-O0", "-fsanitize=signed-integer-overflow,integer-divide-by-zero", "-fno-sanitize-recover"]
    words = iter(run_cpp(program, "\n".join(stdin), tmp_path, flags))
    got = [
        (order, units, number, (int(next(words)), int(next(words)))) for order, units, number, _ in expected
    ]
    assert got == expected


DIVISOR = """
template <class I> void probe(long long n, long long d) {
  const Divisor<I> divisor(static_cast<I>(d));
  std::printf("%lld %lld\\n", i64(static_cast<I>(n) / divisor), i64(static_cast<I>(n) % divisor));
}
int main() {
  int wide;
  long long n, d;
  while (std::scanf("%d %lld %lld", &wide, &n, &d) == 3) wide ? probe<i64>(n, d) : probe<int>(n, d);
}
"""


@needs_cpp
def test_a_divisor_divides(tmp_path: Path) -> None:
    rng, cases = Random(6), []
    for wide, most in ((0, 2**31 - 1), (1, 2**63 - 1)):
        edges = [1, 2, 3, 5, 7, 2**16, 2**16 + 1, most // 2, most // 2 + 1, most - 1, most]
        for d in [
            *edges,
            *(rng.randint(1, most) >> rng.randint(0, most.bit_length() - 1) or 1 for _ in range(900)),
        ]:
            multiple = rng.randint(0, most // d) * d
            near = [multiple, max(0, multiple - 1), min(most, multiple + 1), most, most // d * d, 0, d - 1]
            cases += [(wide, n, d) for n in [*near, max(0, most // d * d - 1), rng.randint(0, most)]]
    stdin = "\n".join(" ".join(map(str, case)) for case in cases)
    words = list(map(int, run_cpp(START + DIVISOR, stdin, tmp_path)))
    got = [(*case, *words[2 * i : 2 * i + 2]) for i, case in enumerate(cases)]
    assert got == [(wide, n, d, n // d, n % d) for wide, n, d in cases]


# ---- how it reads ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", orders(8), ids=name_of)
def test_nothing_is_divided_for_each_tile(order: Mapping[str, Any]) -> None:
    """In a loop all divisors are prepared, or known to the compiler; a single tile prepares none."""
    for axes in (("m", "n"), ("b", "h", "m", "n")):
        text = struct(order, axes)
        members, _, late = text.partition(" at(")
        prepared = {
            line.split()[1].partition("{")[0].rstrip(";")
            for line in members.split("\n")
            if "Divisor<" in line
        }
        prepared |= {line.split()[2] for line in late.split("\n") if "const Divisor<" in line}
        for line in late.split("\n"):
            tokens = line.replace(";", "").replace(")", "").split()
            for i, token in enumerate(tokens):
                if token in ("/", "%"):
                    assert tokens[i + 1] in prepared or tokens[i + 1].isdecimal(), line
        assert "Divisor" not in struct(order, axes, "grid")


GROUP = """
struct Tile {
  int m, n;
};

// Groups of 8 along `m`, in which `m` runs fastest; a unit is a cluster of tiles.
struct Tiles {
  int m_units;
  int n_units;
  Divisor<int> rows{min(8, m_units)};
  Divisor<int> band{rows * n_units};
  int whole{m_units / rows};
  Divisor<int> tail{max(1, m_units % rows)};
  int rank = static_cast<int>(cluster_rank());

  DEVICE u32 count() const { return m_units * n_units; }

  DEVICE Tile at(int index) const {
    const int strip = index / band;
    const int inner = index % band;
    const Divisor<int>& width = strip < whole ? rows : tail;
    Tile tile;
    tile.m = (strip * rows + inner % width) * 2 + rank;
    tile.n = inner / width;
    return tile;
  }
};
"""


def test_a_group_reads_well() -> None:
    text = struct({"kind": "group_major", "along": "m", "group": 8}, cluster=(2, 1))
    assert text.partition("--\n")[2] == GROUP


def test_a_table_is_read_once_an_axis() -> None:
    text = struct({"kind": "table", "from": "order"})
    assert "  Tensor<const i32, 2> table;\n" in text
    assert text.count("table(index, 0)") == text.count("table(index, 1)") == 1
    assert "if (listed_m < 0 || listed_m >= m_units) __trap();" in text


def test_a_kernel_names_its_orders_by_sentences() -> None:
    said = {
        line
        for order in orders(4)
        for line in struct(order).split("\n")
        if line.startswith("// ") and "--" not in line
    }
    assert len(said) == len(UNGROUPED) + len(GROUPED)


TABLE = """
int main() {
  const int rows[] = {1, 0, 0, 0, 0, 1, 1, 1, 2, 0, 0, -1};
  const order::Tiles tiles{2, 2, {rows}};
  for (int unit = 0; unit < 6; ++unit) {
    const auto tile = tiles.at(unit);
    std::printf("%d %d %d ", tile.m, tile.n, traps);
  }
}
"""


@needs_cpp
def test_a_table_is_followed_and_its_rows_are_checked(tmp_path: Path) -> None:
    text = struct({"kind": "table", "from": "order"})
    trap = "static int traps = 0;\nstatic void __trap() { ++traps; }\n"
    words = run_cpp(START + trap + f"namespace order {{\n{text}\n}}" + TABLE, "", tmp_path)
    got = [tuple(map(int, words[i : i + 3])) for i in range(0, 18, 3)]
    assert got == [(1, 0, 0), (0, 0, 0), (0, 1, 0), (1, 1, 0), (2, 0, 1), (0, -1, 2)]


LOOP = """tsc: 1
kernel: k
target: sm_90a
params: {y: {dtype: i32, shape: [m, n]}}
resources:
  tiles: {kind: queue, policy: static, axes: {m: m, n: n}, order: ORDER}
  sum: {kind: registers, dtype: i32, per_thread: 1}
work:
  add: {updates: [sum], cuda: "sum += tile.m ^ tile.n;"}
  keep: {reads: [sum], writes: [y], cuda: "y(0, 0) = sum;"}
tasks:
  main: {warps: 1, schedule: [{zero: sum}, {work_tile_loop: tiles, body: [{do: add}]}, {do: keep}]}
"""


@pytest.mark.parametrize("order", orders(8), ids=name_of)
def test_no_loop_of_the_compiled_code_divides(order: Mapping[str, Any]) -> None:
    written = str(dict(order)).replace("False", "false").replace("'", "")
    source = cuda(document(LOOP.replace("ORDER", written)))
    lines = compiled(source, "sm_90a").ptx.partition(".entry")[2].split("\n")
    labels = {line.strip()[:-1]: at for at, line in enumerate(lines) if re.match(r"\$L.*:$", line.strip())}
    looped: set[int] = set()
    for at, line in enumerate(lines):
        jump = re.search(r"\bbra(?:\.uni)?\s+(\$L\w+)", line)
        if jump and labels.get(jump[1], at) < at:
            looped |= set(range(labels[jump[1]], at))
    assert len(looped) > 10
    assert [lines[at] for at in sorted(looped) if re.search(r"\b(div|rem)\.", lines[at])] == []
