"""What a plain YAML scalar means: the core schema of YAML 1.2, and nothing of YAML 1.1."""

from __future__ import annotations

import re

from tsc.source.limits import INT_MAX, INT_MIN, MAX_DIGITS

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_SPECIAL = {
    sign + "." + word: float(sign + word) for word in ("inf", "Inf", "INF") for sign in ("", "+", "-")
} | {"." + word: float("nan") for word in ("nan", "NaN", "NAN")}
_DECIMAL = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_CLOSES = {")": "(", "]": "[", "}": "{"}


class NumberTooLarge(ValueError):
    """A number that neither a 64-bit integer nor a 64-bit float holds."""


def resolve(text: str) -> str | int | float | bool | None:
    """Give the value of a plain scalar.

    `010` is ten, `0o17` and `0x1F` are integers, `1e3` is a float; `on`, `no`, `4:12` and `1_000` are
    strings. Raises NumberTooLarge.
    """
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if text in _SPECIAL:
        return _SPECIAL[text]
    if text[0] not in "+-.0123456789":
        return text
    if _DECIMAL.fullmatch(text):
        return _integer(text, 10, text.lstrip("+-"))
    if _OCTAL.fullmatch(text):
        return _integer(text, 8, text[2:])
    if _HEX.fullmatch(text):
        return _integer(text, 16, text[2:])
    if _FLOAT.fullmatch(text):
        return _float(text)
    return text


def fits(value: int) -> bool:
    """Tell whether an integer is one of 64 bits."""
    return INT_MIN <= value <= INT_MAX


def unbalanced(text: str) -> bool:
    """Tell whether the brackets of `text` do not match.

    That is the mark of an expression which a list or mapping in `[...]` or `{...}` has cut at a comma or a
    bracket: `[cdiv(h, TH), 0]` has the entries `cdiv(h`, `TH)` and `0`.
    """
    opened: list[str] = []
    for character in text:
        if character in "([{":
            opened.append(character)
        elif character in _CLOSES and (not opened or opened.pop() != _CLOSES[character]):
            return True
    return bool(opened)


def _integer(text: str, base: int, digits: str) -> int:
    significant = digits.lstrip("0") or "0"
    if len(significant) > 22:  # no 64-bit integer has more digits; int() may refuse or take long over them
        raise NumberTooLarge(text)
    value = int(significant, base)
    value = -value if text[0] == "-" else value
    if not fits(value):
        raise NumberTooLarge(text)
    return value


def _float(text: str) -> float:
    value = float(text) if len(text) <= MAX_DIGITS else float("inf")
    if value in (float("inf"), float("-inf")):
        raise NumberTooLarge(text)
    return value
