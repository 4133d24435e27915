"""C++ text: how it reads, and that it computes what `evaluate` computes."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.codegen.headers import includes, needs_cpp, run_cpp
from tests.expr.generate import BOOLS, RANGES, SCALARS, STARTS, TABLE, environment, expression, value_of
from tsc.expr import Cpp, Interval, parse, to_cpp

NAMES = {
    "m": Interval(0, 2**31 - 1),
    "n": Interval(0, 65_536),
    "i": Interval(-(2**31), 2**31 - 1),
    "wide": Interval(),
    "tile.m": Interval(0, 2**24),
    "lengths": Interval(0, 2**31 - 1),
    "offsets": Interval(0, 1000),
}


def printed(text: str) -> Cpp:
    return to_cpp(parse(text), lambda name: name.replace(".", "_"), NAMES, bools=("last",))


@pytest.mark.parametrize(
    ("text", "cpp", "bits"),
    [
        ("0xff", "255", 32),
        ("-2147483648", "(-2147483647 - 1)", 32),
        ("3000000000", "3000000000LL", 64),
        ("-9223372036854775808", "(-9223372036854775807LL - 1)", 64),
        ("n * 4 + 1", "n * 4 + 1", 32),
        ("tile.m * 64 + n", "tile_m * 64 + n", 32),
        ("tile.m * 128 + n", "i64(tile_m) * 128 + n", 64),
        ("4 * m", "4 * i64(m)", 64),
        ("n * 4 + m", "n * 4 + i64(m)", 64),
        ("m * n // 4", "i64(m) * n / 4", 64),
        ("m + 1 - 1", "i64(m) + 1 - 1", 64),
        ("2147483647 + 1", "2147483647LL + 1", 64),
        ("m // 64 % 4", "m / 64 % 4", 32),
        ("(m + n) // 2", "(i64(m) + n) / 2", 64),
        ("i // 64", "floor_div(i, 64)", 32),
        ("i % 64", "floor_mod(i, 64)", 32),
        ("i // -1", "floor_div(i64(i), -1)", 64),
        ("n // (n - 8)", "floor_div(n, n - 8)", 32),
        ("cdiv(m, 64)", "cdiv(m, 64)", 32),
        ("align(n, 64)", "align_up(n, 64)", 32),
        ("align(m, 64)", "align_up(i64(m), 64)", 64),
        ("abs(i)", "abs(i64(i))", 64),
        ("-i", "-i64(i)", 64),
        ("-n - -n", "-n - -n", 32),
        ("--n", "-(-n)", 32),
        ("min(m, n, 64)", "min(min(m, n), 64)", 32),
        ("max(wide, 0)", "max(wide, 0)", 64),
        ("min(n < 3, 1)", "min(int(n < 3), 1)", 32),
        ("last + n", "last + n", 32),
        ("max(last, n)", "max(int(last), n)", 32),
        ("offsets[n] * 2", "offsets[n] * 2", 32),
        ("lengths[n, m] * 2", "i64(lengths(n, m)) * 2", 64),
        ("find(offsets, m) + 1", "find(offsets, m) + 1", 32),
        ("n if m > 3 else i", "m > 3 ? n : i", 32),
        ("1 if n else 2 if m else 3", "n ? 1 : m ? 2 : 3", 32),
        ("(1 if n else 2) + 3", "(n ? 1 : 2) + 3", 32),
        ("i // n if i >= 0 else 0", "i >= 0 ? i / n : 0", 32),
        ("wide + 1 if 0 <= wide < 10 else 0", "0 <= wide && wide < 10 ? wide + 1 : 0", 64),
    ],
)
def test_numbers_read_well(text: str, cpp: str, bits: int) -> None:
    got = printed(text)
    assert (got.text, got.bits, got.is_bool) == (cpp, bits, False)


@pytest.mark.parametrize(
    ("text", "cpp"),
    [
        ("true", "true"),
        ("last", "last"),
        ("0 <= n < m", "0 <= n && n < m"),
        ("not n == m", "!(n == m)"),
        ("(not n) == last", "(!n) == last"),
        ("n < 3 and m < 4 or last", "(n < 3 && m < 4) || last"),
        ("(n < 3 or m < 4) and not last", "(n < 3 || m < 4) && !last"),
        ("last or (last or n)", "last || last || n"),
        ("(n < 3) == (m < 4)", "(n < 3) == (m < 4)"),
        ("m + 1 > n", "i64(m) + 1 > n"),
        ("last if n else false", "n ? last : false"),
    ],
)
def test_conditions_read_well(text: str, cpp: str) -> None:
    got = printed(text)
    assert (got.text, got.bits, got.is_bool) == (cpp, 32, True)


def test_the_spelling_of_elements_can_be_chosen() -> None:
    got = to_cpp(parse("x[i + 1, j]"), str, {}, lambda name, args: f"{name}.at({', '.join(args)})")
    assert got.text == "x.at(i + 1, j)"


def test_text_can_stand_in_larger_text() -> None:
    assert printed("n + 1").operand == "(n + 1)"
    assert printed("offsets[n]").operand == "offsets[n]"
    assert printed("n + 1").widened().text == "i64(n + 1)"
    assert printed("7").widened().text == "7LL"
    assert printed("wide").widened().text == "wide"


PROGRAM = (
    "#include <cstdio>\n"
    + includes("integers")
    + """
struct Vector {
  int values[6];
  constexpr int extent(int) const { return 6; }
  constexpr int operator()(i64 i) const { return values[i]; }
  constexpr int operator[](i64 i) const { return values[i]; }
};
struct Table {
  i64 values[2][3];
  constexpr i64 operator()(i64 i, i64 j) const { return values[i][j]; }
};
constexpr Vector starts = {STARTS};
constexpr Table table = {TABLE};
struct Env { int a, b; bool flag; int i, m, tile_m; i64 w; };
bool read(Env& v, int& which, int& flag) {
  return std::scanf("%d %d %d %d", &which, &v.a, &v.b, &flag) == 4 &&
         std::scanf("%d %d %d %lld", &v.i, &v.m, &v.tile_m, &v.w) == 4;
}

FUNCTIONS
i64 (*const functions[])(const Env&) = {LIST};

int main() {
  int which, flag;
  Env v;
  while (read(v, which, flag)) {
    v.flag = flag != 0;
    std::printf("%lld\\n", functions[which](v));
  }
}
"""
)
FUNCTION = """auto typed_{at}([[maybe_unused]] const Env& v) {{ return {text}; }}
static_assert(same_type<decltype(typed_{at}(Env())), {type}>);
i64 function_{at}(const Env& v) {{ return typed_{at}(v); }}
"""
# What a random expression may say and no engineer would: constants compared, a bool that is multiplied.
HARMLESS = [
    "tautological-compare",
    "bool-compare",
    "int-in-bool-context",
    "bool-operation",
    "div-by-zero",
    "overflow",
    "type-limits",
    "parentheses",
]


@needs_cpp
def test_text_computes_what_evaluate_computes(tmp_path: Path) -> None:
    rng = Random(20)
    functions, cases, expected = [], [], []
    while len(functions) < 500:
        expr = expression(rng)
        cpp = to_cpp(
            expr,
            lambda name: name if name in ("starts", "table") else "v." + name.replace(".", "_"),
            RANGES,
            bools=BOOLS,
        )
        envs = [environment(rng, RANGES) for _ in range(12)]
        values = [(env, value) for env in envs if (value := value_of(expr, env)) is not None]
        if not values:
            continue
        kind = "bool" if cpp.is_bool else "int" if cpp.bits == 32 else "i64"
        for env, value in values:
            cases.append((len(functions), *(int(env[name]) for name in SCALARS)))
            expected.append((str(expr), env, int(value)))
        functions.append(FUNCTION.format(at=len(functions), text=cpp.text, type=kind))
    program = PROGRAM.replace("STARTS", ", ".join(map(str, STARTS)))
    program = program.replace("TABLE", ", ".join(f"{entry}LL" for row in TABLE for entry in row))
    program = program.replace("FUNCTIONS", "".join(functions))
    program = program.replace("LIST", ", ".join(f"function_{at}" for at in range(len(functions))))
    stdin = "\n".join(" ".join(map(str, case)) for case in cases)
    # The sanitizer ends the program where an intermediate overflows, even if the value comes out right.
    flags = [
        "-O0",
        "-fsanitize=signed-integer-overflow,integer-divide-by-zero,bounds",
        "-fno-sanitize-recover",
        *(f"-Wno-{name}" for name in HARMLESS),
    ]
    words = run_cpp(program, stdin, tmp_path, flags)
    got = [(text, env, int(word)) for (text, env, _), word in zip(expected, words, strict=True)]
    assert got == expected
