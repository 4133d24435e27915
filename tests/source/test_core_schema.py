"""What plain scalars mean in YAML 1.2, and what they meant in 1.1 and do not any more."""

from __future__ import annotations

import math

import pytest

from tsc.source.core_schema import NumberTooLarge, resolve, unbalanced


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("True", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("010", 10),
        ("+12", 12),
        ("-0", 0),
        ("0o17", 15),
        ("0x1F", 31),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("0" * 5000 + "7", 7),
        ("1e3", 1000.0),
        ("1e-6", 1e-6),
        ("1.", 1.0),
        (".5", 0.5),
        ("-1.5E+3", -1500.0),
        (".inf", math.inf),
        ("-.INF", -math.inf),
    ],
)
def test_values(text: str, value: object) -> None:
    assert resolve(text) == value
    assert type(resolve(text)) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "on",
        "off",
        "yes",
        "no",
        "On",
        "NO",
        "y",
        "n",
        "4:12",
        "1:30:00",
        "1_000",
        "0b101",
        "0o8",
        "0xG",
        "-0x1F",
        "1e",
        "1e+",
        ".",
        "..",
        "-",
        "+",
        "+.",
        "e5",
        "inf",
        "nan",
        ".Nan",
        "-.nan",
        "tRue",
        "nil",
        "2001-12-14",
        "=",
        "<<",
        "1.2.3",
        "12,5",
        "\uff11\uff12",
    ],
)
def test_strings(text: str) -> None:
    assert resolve(text) == text


def test_not_a_number() -> None:
    assert math.isnan(float(str(resolve(".nan"))))


@pytest.mark.parametrize(
    "text",
    [
        str(2**63),
        str(-(2**63) - 1),
        "0x8000000000000000",
        "0o7777777777777777777777",
        "9" * 100_000,
        "1e999",
        "-1e999",
    ],
)
def test_numbers_beyond_64_bits(text: str) -> None:
    with pytest.raises(NumberTooLarge):
        resolve(text)


@pytest.mark.parametrize("text", ["cdiv(h", "TH)", "a[i", "(]", "([)]", ")("])
def test_unbalanced(text: str) -> None:
    assert unbalanced(text)


@pytest.mark.parametrize("text", ["", "cdiv(h, TH)", "a[i, (j)]", "{}", "x < y"])
def test_balanced(text: str) -> None:
    assert not unbalanced(text)
