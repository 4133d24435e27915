"""What the rules see of a snippet: tokens without comments and strings, and the names it declares itself."""

from __future__ import annotations

import pytest

from tsc.rules.routing.assembly import instructions
from tsc.rules.routing.snippet import bare, declared, names, pieces
from tsc.rules.routing.snippet_scopes import returns


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a // b\nc", "a     \nc"),
        ("a /* b\nc */ d", "a     \n     d"),
        ('f("a \\" // b") + c', "f(           ) + c"),
        ("x = '\"'; y = 1'000;", "x =    ; y = 1'000;"),
        ('s = R"x(a ")" b)x" + c', "s =                + c"),
        ("#pragma unroll\nfor", "              \nfor"),
        ("#define TWO 2", "#define TWO 2"),
    ],
)
def test_bare_text_keeps_every_place(text: str, kept: str) -> None:
    assert bare(text) == kept


def test_members_are_no_names() -> None:
    found = [piece.text for piece in names(pieces("a.b->c + std::d(e.f<g>())"))]
    assert found == ["a", "std", "e", "g"]


@pytest.mark.parametrize(
    "text",
    [
        "float x = 1.f;",
        "const auto& x = y;",
        "int a, x = 2;",
        "float* x = p;",
        "vector<4> x;",
        "for (int x : list) {}",
        "auto f = [](int a, float x) { return x; };",
        "auto [a, x] = pair;",
        "struct x { int a; };",
        "#define x 3",
        "uint32_t *x = nullptr;",
    ],
)
def test_declared_names_are_the_snippets_own(text: str) -> None:
    assert "x" in declared(pieces(text))


@pytest.mark.parametrize(
    "text",
    [
        "y = x(0);",
        "return x;",
        "a * x(0);",
        "if (a > x(0)) b();",
        "f(a, x(1));",
        "a = b, x(0) = 1.f;",
        "v[x] = 1;",
        "else x(0) = 2;",
        "sum += scale * x(i) + x(j);",
        "y(0) = a < b && c > x(0);",
    ],
)
def test_uses_are_no_declarations(text: str) -> None:
    assert "x" not in declared(pieces(text))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("return;", 1),
        ("if (a) { return; }", 1),
        ("auto f = [&](int i) { return i; };", 0),
        ("auto f = [=] { return 1; };", 0),
        ("auto f = [](int i) -> std::pair<int, int> { return {i, g(i)}; };", 0),
        ("struct S { int f() { return 1; } };", 0),
        ("for (int i = 0; i < v[2]; ++i) { return; }", 1),
        ("auto f = [] { if (a) { return 1; } return 2; }; return;", 1),
    ],
)
def test_returns_of_inner_functions_are_left_alone(text: str, count: int) -> None:
    assert len(list(returns(pieces(text)))) == count


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ('asm("add.s32 %0, %1, %2;" : "=r"(a) : "r"(b), "r"(c));', ""),
        ('asm volatile("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(a) : "f"(b), "f"(c));', ""),
        ('asm("{.reg .f32 t;\\n\\t ex2.approx.f32 t, %1;\\n\\t mul.f32 %0, t, t;}" : "=f"(a) : "f"(b));', ""),
        ('asm volatile("bar.sync 0;");', "bar.sync"),
        (
            'asm volatile("mov.b32 %0, 1;\\n @!p red.global.add.u32 [%1], 1;" :: "r"(a));',
            "red.global.add.u32",
        ),
        ('asm volatile("cp.async.wait_all;" ::: "memory");', "cp.async.wait_all"),
        (
            'asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(a));',
            "mbarrier.arrive.shared::cta.b64",
        ),
        ('asm volatile("ret;");', "ret"),
        ('__asm__("mov.b32 %0, 1;" "st.global.u32 [%1], %0;" : : "l"(p));', "st.global.u32"),
    ],
)
def test_only_arithmetic_is_left_to_asm(text: str, refused: str) -> None:
    found = [why for _, why, _ in instructions(text, pieces(text))]
    assert found == ([f"issues `{refused}`, and only arithmetic is a snippet's own"] if refused else [])
