"""Names have the width that their uses take them to have: index expressions of large dims, as they are
emitted, compute on the host what `evaluate` says.
"""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.codegen.headers import includes, needs_cpp, run_cpp
from tests.emit.kernels import cuda, document, plan, program_of, small
from tsc.emit import manifest
from tsc.expr import Interval, evaluate, parse

MOST = [2**31 - 1, 2**31, 2**33, 2**40]
PARAMS = (
    "params: {x: {dtype: u8, shape: [n]}, w: {dtype: i32, shape: [k]}, big: {dtype: i64}, u: {dtype: u32}}"
)
# Lets of every level, some that fit 32 bits only as a whole.
LETS = {
    "rows": "cdiv(n, 256)",
    "share": "n % 1000 * 3",
    "few": "(share if share < 10 else 0) * 1000000",
    "first": "tile.m * 256",
    "low": "tile.m % 64",
    "mixed": "first % 8192 + u % 7",
    "step": "loop * 3 + tile.m",
    "near": "loop % 512 - low",
}
NAMES = [
    "n",
    "big % 1000",
    "u",
    "tile.m",
    "tile.seq",
    "loop",
    "iter",
    "thread",
    *LETS,
    "find(w, loop)",
    "w[low]",
]
ENV = ["n", "big", "u", "tile.m", "tile.seq", "loop", "thread"]


def expression(rng: Random, depth: int = 0) -> str:
    if depth == 2 or rng.random() < 0.25:
        return rng.choice(NAMES) if rng.random() < 0.8 else str(rng.choice([1, 3, 64, 4096]))
    a, b = expression(rng, depth + 1), expression(rng, depth + 1)
    factor = rng.choice([2, 7, 64, 4096])
    forms = [f"({a}) + ({b})", f"({a}) - ({b})", f"({a}) * {factor}", f"({a}) // {factor}"]
    return rng.choice([*forms, f"min({a}, {b})", f"cdiv({a}, {factor})"])


def spec(most: int, coordinates: list[str]) -> str:
    lets = "\n".join(f'  {name}: "{text}"' for name, text in LETS.items())
    body = "\n".join(
        f'{" " * 14}- {{load: v, from: x, at: ["{text}"]}}\n{" " * 14}- {{store: x, from: v, at: [thread]}}'
        for text in coordinates
    )
    tasks = (
        "  main:\n    warps: 4\n    schedule:\n      - work_tile_loop: tiles\n        body:\n"
        f"          - domain_loop: rows\n            body:\n{body}"
    )
    resources = (
        "  tiles: {kind: queue, policy: static, axes: {m: rows}}\n"
        "  v: {kind: registers, dtype: u8, per_thread: 1}"
    )
    return small(
        tasks, resources, f"{PARAMS}\ndims: {{n: {{max: {most}}}, k: {{max: 64}}}}\nlet:\n{lets}", ""
    )


HARNESS = """
#include <cstdio>
struct View { int v[64]; int operator()(i64 i) const { return v[i]; } i64 extent(int) const { return 64; } };
struct Tile { int m, seq; };
struct { int thread; } task;
int main() {
  View w;
  for (int i = 0; i < 64; ++i) w.v[i] = 5 * i;
  SIZES
  task.thread = THREAD;
  const Tile tile{TILE, SEQ};
  LETS
  LOOP
  AT
}
"""


def declared(text: str, name: str) -> str:
    """The declaration of a name in the task's function."""
    found = re.search(rf"\b(const (?:int|i64|bool) {name} = [^;]*;)", text)
    return found[1] if found else ""


@needs_cpp
@pytest.mark.parametrize("most", MOST)
def test_index_expressions_compute_what_evaluate_computes(most: int, tmp_path: Path) -> None:
    rng = Random(most)
    texts = [f"max({expression(rng)}, 0)" for _ in range(60)]
    texts += ["few * 4096", "first * 3", "tile.m * 256 + thread", "loop * 256"]
    text = cuda(document(spec(most, texts)))
    body = text[text.index("DEVICE void main_task") :]
    emitted = [" ".join(m.split()) for m in re.findall(r"load_registers<[^>]*>\(v, x,([^;]*)\);", body)]
    assert len(emitted) == len(texts)
    types = dict((name, kind) for kind, name in re.findall(r"(\w+) (n|big|u)\b[,)]", body.split("{")[0]))
    loop = re.search(r"for \((int|i64) loop = 0", body)
    assert loop is not None
    # What is read once before the loop comes behind the lets that it is read with.
    read = dict.fromkeys(re.findall(r"\bw_here\w*(?= =)", body))
    lets = "\n".join(declared(body, name) for name in (*LETS, *read))
    checked = 0
    for at in range(6):
        n = rng.choice([most, most - 1, rng.randrange(most), 4095])
        n = min(n, (2**31 - 1) * 256)  # what the loader allows
        n = n // 1000 * 1000 + 3 if at % 2 else n
        rows = -(-n // 256)
        env = {"n": n, "big": rng.choice([-(2**40), 2**40 + 7, 3]), "u": rng.choice([0, 2**32 - 1, 5])}
        env |= {
            "tile.m": rng.choice([max(0, rows - 1), rng.randrange(max(1, rows))]),
            "tile.seq": rng.randrange(2**20),
        }
        env |= {
            "loop": rng.choice([max(0, rows - 1), rng.randrange(max(1, rows))]),
            "thread": rng.randrange(128),
        }
        sizes = "\n".join(
            f"const {types.get(name, 'i64')} {name} = {env[name]}LL;" for name in ("n", "big", "u")
        )
        program = includes("integers") + HARNESS.replace("SIZES", sizes).replace("THREAD", str(env["thread"]))
        program = program.replace("TILE", str(env["tile.m"])).replace("SEQ", str(env["tile.seq"]))
        prints = "\n".join(f'std::printf("%lld\\n", static_cast<i64>({one}));' for one in emitted)
        program = program.replace("LETS", lets).replace("AT", prints, 1)
        program = program.replace("LOOP", f"const {loop[1]} loop = {env['loop']}LL;")
        flags = ["-w", "-O0", "-fsanitize=signed-integer-overflow", "-fno-sanitize-recover"]
        folder = tmp_path / str(at)
        folder.mkdir()
        got = [int(word) for word in run_cpp(program, "", folder, flags)]
        assert got == [value(one, env) for one in texts], env
        checked += len(got)
    assert checked == 6 * len(texts)


class Starts:
    """The elements of `w`."""

    shape = (64,)

    def __getitem__(self, at: tuple[int, ...]) -> int:
        return 5 * at[0]


def value(text: str, env: dict[str, int]) -> int:
    """What a coordinate is by the language, its lets looked through in order."""
    known: dict[str, Any] = {**env, "iter": env["loop"], "w": Starts()}
    for name, own in LETS.items():
        known[name] = evaluate(parse(own), known)
    return int(evaluate(parse(text), known))


STEPS = {
    "tma_load": "[{{acquire: r}}, {{tma_load: x, at: [{at}], to: r}}, {{commit: r}}]",
    "tma_store": "[{{wait: r}}, {{tma_store: x, at: [{at}], from: r}}, {{release: r}}]",
}


def far(most: int, at: str, verb: str) -> tuple[list[str], list[str]]:
    """What is refused and what the loader asserts of a coordinate of a tensor of `n` elements."""
    text = small(
        f"  main:\n    warps: 1\n    schedule: {STEPS[verb].format(at=at)}",
        "  r: {kind: smem, stages: 2, dtype: u8, shape: [256]}",
        f"params: {{x: {{dtype: u8, shape: [n]}}, first: {{dtype: u32}}}}\ndims: {{n: {{max: {most}}}}}",
        'launch: {grid: ["cdiv(n, 256)"]}',
    )
    sentences = [refusal.sentence for refusal in plan(text).refusals if "TMA" in refusal.sentence]
    asserts = [] if sentences else manifest(program_of(document(text)))["asserts"]
    return sentences, [one["expr"] for one in asserts]


@pytest.mark.parametrize(
    ("most", "at", "verb", "asserted"),
    [
        (2**31 - 1, "block.x * 256", "tma_load", []),
        # A load ahead of the end finds nothing.
        (2**31 - 1, "block.x * 256 + 256", "tma_load", []),
        (2**31 - 1, "block.x * 256 + 256", "tma_store", ["n <= 2147483392", "n % 16 == 0"]),
        (2**31 - 300, "block.x * 256 + 256", "tma_store", ["n % 16 == 0"]),
        (2**33, "block.x * 256", "tma_load", ["n <= 2147483647"]),
        (2**33, "n - 256", "tma_load", ["n % 16 == 0", "n <= 2147483647"]),
    ],
)
def test_coordinates_of_tma_have_32_bits_or_a_dim_is_held_below_it(
    most: int, at: str, verb: str, asserted: list[str]
) -> None:
    assert far(most, at, verb) == ([], asserted)


def test_what_no_bound_of_a_dim_settles_is_refused() -> None:
    sentence = "TMA coordinates have 32 bits, and `{}` may be {}; bound it by an `assert`"
    assert far(2**31 - 1, "first", "tma_store") == ([sentence.format("first", "4,294,967,295")], [])
    assert far(2**31 - 1, "first + n", "tma_store")[0] == [sentence.format("first + n", "6,442,450,942")]


def test_a_box_that_ends_below_2_31_by_such_a_bound_is_not_capped() -> None:
    tasks = """
  main:
    warps: 4
    schedule:
      - acquire: ring
      - do: fill
      - commit: ring
      - {tma_store: y, at: [block.x * 512 + 512, 0], from: ring}
"""
    resources = "  ring: {kind: smem, stages: 1, dtype: f32, shape: [512, 32], swizzle: 128}"
    work = "work: {fill: {writes: [ring], cuda: 'ring(task.thread, 0) = 1.f;'}}\n"
    params = "params: {y: {dtype: f32, shape: [m, n]}}\n"
    found = document(small(tasks, resources, params + work, "launch: {grid: ['cdiv(m, 512)']}"))
    assert "smaller(" not in cuda(found, headers=False)
    assert {"expr": "m <= 2147483136", "text": "`tma_store` of `y` in 32 bits needs `m` to be so small"} in (
        manifest(program_of(found))["asserts"]
    )


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ("ids[block.x]", ""),
        ("loop + ids[block.x]", ""),
        ("ids[block.x] * 2 + 1", "the values of `ids` do not say where"),
        ("ids[block.x] + thread", "the values of `ids` do not say where"),
    ],
)
def test_rows_that_elements_number_are_trusted_and_no_others(at: str, words: str) -> None:
    found = plan(
        small(
            "  main:\n    warps: 1\n    schedule:\n      - domain_loop: ids[block.x + 1] - ids[block.x]\n"
            f'        body: [{{acquire: r}}, {{bulk_load: x, at: ["{at}", 0], to: r}}, {{commit: r}}]',
            "  r: {kind: smem, stages: 2, dtype: u8, shape: [64]}",
            "params: {x: {dtype: u8, shape: [m, 64]}, ids: {dtype: i32, shape: [k + 1]}}",
            "launch: {grid: [k]}",
        )
    )
    outside = [refusal.sentence for refusal in found.refusals if refusal.rule == "bulk-copy-outside"]
    assert bool(outside) == bool(words)
    assert all(words in sentence for sentence in outside)


def test_elements_of_a_workspace_have_their_own_width() -> None:
    text = small(
        "  main:\n    warps: 1\n    schedule:\n      - {load: v, from: x, at: ['s[0] * 4096']}",
        "  v: {kind: registers, dtype: u8, per_thread: 1}",
        "params: {x: {dtype: u8, shape: [n]}}\nworkspace: {s: {dtype: i32, shape: [4], zero: every_launch}}",
    )
    assert "i64(s(0)) * 4096" in cuda(document(text))


def test_ragged_clusters_count_whole_and_find_counts_in_32_bits() -> None:
    params = "params: {x: {dtype: u8, shape: [n]}, w: {dtype: u32, shape: [k]}}\ndims: {k: {max: 8589934592}}"
    text = small(
        "  main:\n    warps: 1\n    schedule:\n      - work_tile_loop: tiles\n        body:\n"
        '          - {load: v, from: x, at: ["find(w, tile.m)"]}',
        "  tiles: {kind: queue, policy: grid, axes: {m: n}}\n"
        "  v: {kind: registers, dtype: u8, per_thread: 1}",
        params,
        "launch: {cluster: {m: 2}}",
    )
    found = program_of(document(text))
    assert found.ranges["tile.m"] == Interval(0, 2**31 - 2)
    asserted = {one["expr"] for one in manifest(found)["asserts"]}
    assert asserted == {"cdiv(n, 2) * 2 <= 2147483647", "k <= 2147483647"}


@pytest.mark.parametrize(
    ("at", "rest", "capped"),
    [
        ("[first, 0]", "", True),
        ("[first // 2, 0]", "", False),
        ("[first, 0]", "assert: [first <= 2000000000]", False),
        ("[block.x * 512, 0]", "", False),
    ],
)
def test_parts_of_a_store_never_become_negative(at: str, rest: str, capped: bool) -> None:
    tasks = f"""
  main:
    warps: 4
    schedule: [{{acquire: ring}}, {{do: fill}}, {{commit: ring}}, {{tma_store: y, at: {at}, from: ring}}]
"""
    resources = "  ring: {kind: smem, stages: 1, dtype: f32, shape: [512, 32], swizzle: 128}"
    params = "params: {y: {dtype: f32, shape: [m, n]}, first: {dtype: i32}}\n"
    work = "work: {fill: {writes: [ring], cuda: 'ring(task.thread, 0) = 1.f;'}}\n"
    found = small(tasks, resources, params + work + rest, "launch: {grid: ['cdiv(m, 512)']}")
    text = cuda(document(found), headers=False)
    assert ("smaller(i64(first) + 256, 2147483647)" in text) is capped
    assert text.count("    tma_store(") == 2
