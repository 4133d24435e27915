"""What the language accepts, and where and how it refuses the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tsc.expr import Expr, ExprError, Name, evaluate, parse, show


def refusal(source: object) -> ExprError:
    with pytest.raises(ExprError) as caught:
        parse(source)
    return caught.value


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("0xFF", "255"),
        ("  1 ", "1"),
        ("m*2+1", "m * 2 + 1"),
        ("m * (2 + 1)", "m * (2 + 1)"),
        ("(m * 2) + 1", "m * 2 + 1"),
        ("a - (b - c) - d", "a - (b - c) - d"),
        ("-a * b // -3", "-a * b // -3"),
        ("-(3)", "-3"),
        ("--3", "-(-3)"),
        ("+3", "+3"),
        ("not a == b", "not a == b"),
        ("(not a) == b", "(not a) == b"),
        ("a < b <= c", "a < b <= c"),
        ("(a < b) < c", "(a < b) < c"),
        ("a or b and not c", "a or b and not c"),
        ("(a or b) and c", "(a or b) and c"),
        ("a if b else c if d else e", "a if b else c if d else e"),
        ("(a if b else c) if d else e", "(a if b else c) if d else e"),
        ("tile . m*2", "tile.m * 2"),
        ("table[ i,j+1 ]", "table[i, j + 1]"),
        ("min(a,b , 3)", "min(a, b, 3)"),
        ("find(offsets, tile.m)", "find(offsets, tile.m)"),
        ("true and false", "true and false"),
        ("a\n  +\tb\r\n", "a + b"),
        ("-9223372036854775808", "-9223372036854775808"),
    ],
)
def test_text_is_read_and_written(text: str, canonical: str) -> None:
    expr = parse(text)
    assert show(expr) == canonical
    assert parse(canonical) == expr
    assert expr.text == text


def test_integers_and_bools_are_expressions() -> None:
    assert [parse(source).value for source in (7, -7, True, False, 2**63 - 1)] == [
        7,
        -7,
        True,
        False,
        2**63 - 1,
    ]
    assert parse(True).value is True
    assert parse("true") != parse("1")


def test_names_know_their_places() -> None:
    expr = parse("min(tile . m,\t x[m]) + m")
    assert expr.names == (Name("tile.m", 4, 12), Name("x", 15, 16), Name("m", 17, 18), Name("m", 23, 24))
    assert expr.free == {"tile.m", "x", "m"}
    assert expr.indexed == {"x"}
    assert expr.calls == {"min"}
    assert parse("find(starts, x)").indexed == {"starts"}


@pytest.mark.parametrize(
    ("text", "place", "message", "help"),
    [
        (
            "m / 2",
            "/",
            "`/` is not an operator of the language",
            "write `//`, which divides towards minus infinity",
        ),
        ("m ** 2", "**", "`**` is not an operator of the language", "write the product"),
        ("m > 0 && n > 0", "&&", "`&&` is not an operator of the language", "write `and`"),
        ("m || n", "||", "`||` is not an operator of the language", "write `or`"),
        ("!m", "!", "`!` is not an operator of the language", "write `not`"),
        ("m = 3", "=", "`=` is not an operator of the language", "write `==` to compare"),
        ("m << 2", "<<", "`<<` is not an operator of the language", "write a product with the power of two"),
        ("m ? 1 : 2", "?", "`?` is not an operator of the language", "write `x if condition else y`"),
        ("m $ 2", "$", "`$` is not an operator of the language", "remove it"),
        ("True", "True", "`True` is not part of the language", "write `true`"),
        ("m is 3", "is", "`is` is not part of the language", "write `==`"),
        ("lambda: 3", "lambda", "`lambda` is not part of the language", "write the formula itself"),
        ("m + yield", "yield", "`yield` is not part of the language", "choose another name"),
        ("'m' + 1", "'m'", "expressions have no strings", "write `m` without quotes"),
        ("1.5 * m", "1.5", "`1.5` is not an integer", "write whole numbers; expressions have no fractions"),
        ("2.0", "2.0", "`2.0` is not an integer", "write `2`"),
        ("1e6", "1e6", "`1e6` is not an integer", "write `1000000`"),
        ("1e-6", "1e-6", "`1e-6` is not an integer", "write whole numbers; expressions have no fractions"),
        ("007", "007", "`007` is not an integer", "write `7`"),
        ("0b101", "0b101", "`0b101` is not an integer", "write `5`"),
        ("1_000u", "1_000u", "`1_000u` is not an integer", "write `1000`"),
        ("2m", "2m", "`2m` is not an integer", "write `2 * m` for a product; no name begins with a digit"),
        ("m if 1else 2", "1else", "`1else` is not an integer", "put a space after `1`"),
        (
            "1 + 9223372036854775808",
            "9223372036854775808",
            "`9223372036854775808` does not fit 64 bits",
            "the largest is 9,223,372,036,854,775,807",
        ),
        ("m +", "+", "nothing follows `+`", "write a value after it"),
        ("* m", "*", "nothing stands before `*`", "write a value before it"),
        ("m * * n", "* *", "no value stands between `*` and `*`", "write a value there"),
        ("min(a, )", ", )", "no value stands between `,` and `)`", "write a value there"),
        ("m n", "m n", "no operator stands between `m` and `n`", "write an operator between them"),
        ("2(m)", "2(", "no operator stands between `2` and `(`", "write an operator between them"),
        ("m == not n", "not", "`not` stands bare after `==`", "put `not ...` in parentheses"),
        (
            "m, n",
            ",",
            "`,` stands outside the arguments of a function",
            "write one expression, or name it in `let`",
        ),
        ("[m, n]", "[", "expressions have no lists", "write one value, or one expression an entry"),
        ("m if n", "if", "`if` has no `else`", "write `x if condition else y`"),
        ("min(m if n, 2)", "if", "`if` has no `else`", "write `x if condition else y`"),
        ("m else n", "else", "`else` has no `if`", "write `x if condition else y`"),
        (
            "a if b if c else d else e",
            "if",
            "an `if` stands inside the condition of another",
            "put the inner choice in parentheses",
        ),
        ("(m]", "(m]", "`(` is closed by `]`", "write `)`"),
        ("a.b.c", "a.b.c", "`a.b.c` has more than two parts", "write a name of two parts, as `tile.m`"),
        ("min(a, b).c", ".", "`.` does not join two names", "write a name of two parts, as `tile.m`"),
        ("tile.", ".", "`.` does not join two names", "write a name of two parts, as `tile.m`"),
        ("true.x", "true.x", "`.` does not join two names", "write a name of two parts, as `tile.m`"),
        ("x[i][j]", "][", "a tensor has one pair of brackets", "write `[i, j]`"),
        ("a.b[i]", "a.b[i]", "only a tensor has subscripts", "write the tensor's name before `[`"),
        ("min", "min", "`min` is a function", "write `min(a, b)`"),
        ("abs + 1", "abs", "`abs` is a function", "write `abs(a)`"),
        ("ceil_div(a, b)", "ceil_div", "`ceil_div` is not a function", "did you mean `cdiv`?"),
        ("cdvi(a, b)", "cdvi", "`cdvi` is not a function", "did you mean `cdiv`?"),
        ("MAX(a, b)", "MAX", "`MAX` is not a function", "did you mean `max`?"),
        ("mod(a, b)", "mod", "`mod` is not a function", "write `a % b`"),
        (
            "launch(a)",
            "launch",
            "`launch` is not a function",
            "the functions are `cdiv`, `align`, `min`, `max`, `abs` and `find`",
        ),
        ("1 + min(a)", "min(a)", "`min` takes 2 or more arguments, not 1", "write `min(a, b)`"),
        ("cdiv()", "cdiv()", "`cdiv` takes 2 arguments, not 0", "write `cdiv(a, b)`"),
        ("abs(a, b)", "abs(a, b)", "`abs` takes 1 argument, not 2", "write `abs(a)`"),
        ("min(x=1, y=2)", "x=", "arguments have no names", "write the values alone, in order"),
        ("find(x + 1, 2)", "x + 1", "`find` searches a tensor", "write the tensor's name as first argument"),
        (
            "größe + 1",
            "ö",
            "the character `ö` (U+00F6) is not part of the language",
            "names are made of letters a to z, digits and `_`",
        ),
        ("a\u00a0+ b", "\u00a0", "the character U+00A0 is not part of the language", "write a plain space"),
        (
            "a \U0001f600",
            "\U0001f600",
            "the character `\U0001f600` (U+1F600) is not part of the language",
            None,
        ),
        ("a\0", "\0", "the character U+0000 is not part of the language", None),
        ("\n\t a + \tb & c", "&", "`&` is not an operator of the language", None),
    ],
)
def test_text_is_refused_at_its_place(text: str, place: str, message: str, help: str | None) -> None:
    error = refusal(text)
    assert (text[error.start : error.end], error.message) == (place, message)
    assert help is None or error.help == help
    assert error.start == (text.rindex(place) if text.count(place) > 1 else text.index(place))


def test_an_unbalanced_bracket_has_the_advice_for_yaml() -> None:
    advice = (
        "YAML itself splits `[...]` and `{...}` at `,` `[` `]` `{` `}`, so quote the expression there, "
        "or name it in `let`"
    )
    error = refusal("min(a")
    assert (error.start, error.end, error.message) == (3, 4, "`(` is never closed")
    assert error.help == f"write its `)`; {advice}"
    error = refusal("b)")
    assert (error.start, error.end, error.message) == (1, 2, "`)` closes nothing")
    assert error.help == f"write its `(`; {advice}"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "the expression is empty"),
        (" \n", "the expression is empty"),
        (1.5, "an expression stands here, not a float"),
        (None, "an expression stands here, not nothing"),
        ([1], "an expression stands here, not a list"),
        (2**63, "the integer does not fit 64 bits"),
        ("m + " * 1024 + "m", "the expression has 4,097 characters, at most 4,096 are allowed"),
        ("(" * 65 + "m" + ")" * 65, "the expression is more than 64 levels deep"),
        ("-" * 4000 + "m", "the expression is more than 64 levels deep"),
        ("not " * 1000 + "m", "the expression is more than 64 levels deep"),
        ("m+" * 2000 + "m", "the expression is more than 64 levels deep"),
        ("m if m else " * 340 + "m", "the expression is more than 64 levels deep"),
        ("1" * 4096, f"`{'1' * 4096}` does not fit 64 bits"),
    ],
)
def test_work_is_bounded(source: object, message: str) -> None:
    assert refusal(source).message == message


def test_an_integer_too_long_to_be_shown_is_refused() -> None:
    assert refusal(10**6000).message == "the integer does not fit 64 bits"


def test_a_run_of_signs_is_refused_where_it_gets_too_long() -> None:
    error = refusal("m + " + "-" * 4000 + "m")
    assert (error.start, error.end) == (4 + 64, 4 + 65)


def test_what_is_nearly_too_deep_is_read() -> None:
    expr = parse("m+" * 63 + "m")
    assert evaluate(expr, {"m": 2}) == 128
    assert parse(show(expr)) == expr
    assert parse("(" * 63 + "m" + ")" * 63) == parse("m")


SIGNS = [*"+-*%<>()[],.=/&|!?:;{}@$#\\'\" \n\t", "//", "**", "<=", "==", "!=", "\0", "é", "\ud800", "\u2028"]
WORDS = [
    "and",
    "or",
    "not",
    "if",
    "else",
    "in",
    "is",
    "lambda",
    "True",
    "true",
    "False",
    "None",
    "for",
    "await",
    "m",
    "tile",
    "tile.m",
    "x",
    "min",
    "cdiv",
    "find",
    "abs",
]
NUMBERS = ["0", "1", "0x1F", "1.5", "1e9", "1_0", "09", "9" * 30]


def check_any(text: str) -> None:
    try:
        expr = parse(text)
    except ExprError as error:
        assert 0 <= error.start <= error.end <= len(text)
        assert error.message and not error.message.endswith(".")
    else:
        assert isinstance(expr, Expr)
        assert parse(show(expr)) == expr
        assert all(text[name.start : name.end].replace(" ", "") for name in expr.names)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    check_any(text)


@given(st.lists(st.sampled_from([*SIGNS, *WORDS, *NUMBERS]), max_size=25), st.sampled_from(["", " "]))
def test_any_mix_of_pieces_is_read_or_refused(pieces: list[str], blank: str) -> None:
    check_any(blank.join(pieces))
