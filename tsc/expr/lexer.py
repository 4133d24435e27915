"""Tokens of an expression, and the checks that need no tree.

They run before Python's parser sees the text: they bound its work, and know the exact place of a fault.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tsc.expr.hints import OPERATORS, RESERVED_WORDS, WORDS
from tsc.expr.tree import INT64_MAX, MAX_DEPTH, MAX_LENGTH, ExprError

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
    |(?P<number>0[xX][\w.]*|\.?[0-9](?:[eE][+-]?(?=[0-9])|[\w.])*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<string>"[^"]*"?|'[^']*'?)
    |(?P<op>===|!==|\*\*|//|<<|>>|&&|\|\||<=|>=|==|!=|<>|=<|=>|->|:=|::|.)
    """,
    re.VERBOSE | re.ASCII | re.DOTALL,
)
_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
_ARITHMETIC = frozenset({"+", "-", "*", "//", "%"})
_BRACKETS = {"(": ")", "[": "]"}
_BINARY = _COMPARISONS | _ARITHMETIC | {"and", "or", "if", "else"}
_PUNCTUATION = frozenset({"(", ")", "[", "]", ",", "."})
_WORD_OPERATORS = frozenset({"and", "or", "not", "if", "else"})


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text; `kind` is `int`, `name` or `op`, words that are operators included."""

    kind: str
    text: str
    start: int
    end: int


_BEGIN = Token("op", "", 0, 0)


def scan(text: str) -> tuple[Token, ...]:
    """Cut a text into tokens; ExprError for what no expression may contain."""
    if len(text) > MAX_LENGTH:
        message = f"the expression has {len(text):,} characters, at most {MAX_LENGTH:,} are allowed"
        raise ExprError(message, 0, len(text), "name parts of it in `let`")
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind, start, end = str(match.lastgroup), match.start(), match.end()
        piece = match.group()
        if kind == "space":
            continue
        if kind == "string":
            inner = piece.strip("\"'")
            raise ExprError("expressions have no strings", start, end, f"write `{inner}` without quotes")
        if kind == "number":
            _check_number(piece, start)
            kind = "int"
        elif kind == "name" and piece in _WORD_OPERATORS:
            kind = "op"
        elif kind == "name" and piece in RESERVED_WORDS:
            help = WORDS.get(piece, "choose another name")
            raise ExprError(f"`{piece}` is not part of the language", start, end, help)
        elif kind == "op" and piece not in _BINARY and piece not in _PUNCTUATION:
            raise _stray(piece, start, tokens)
        tokens.append(Token(kind, piece, start, end))
    return tuple(tokens)


def _check_number(piece: str, start: int) -> None:
    end = start + len(piece)
    if re.fullmatch(r"0[xX][0-9a-fA-F]+", piece):
        value = int(piece, 16)
    elif re.fullmatch(r"0|[1-9][0-9]*", piece):
        value = int(piece)
    else:
        raise ExprError(f"`{piece}` is not an integer", start, end, _number_help(piece))
    if value > INT64_MAX + 1:
        raise ExprError(f"`{piece}` does not fit 64 bits", start, end, f"the largest is {INT64_MAX:,}")


def _number_help(piece: str) -> str:
    if match := re.fullmatch(r"(0[xX][0-9a-fA-F_]+|[0-9][0-9_]*)[uUlL]*", piece):
        digits = match[1].replace("_", "")
        return f"write `{digits if digits[:2] in ('0x', '0X') else digits.lstrip('0') or '0'}`"
    if re.fullmatch(r"0[bB][01]+|0[oO][0-7]+", piece):
        return f"write `{int(piece, 0)}`"
    if re.fullmatch(r"[0-9]+\.0*[fF]?", piece):
        return f"write `{piece.split('.')[0].lstrip('0') or '0'}`"
    if match := re.fullmatch(r"([1-9][0-9]?)[eE]\+?([0-9]|1[0-7])", piece):
        return f"write `{int(match[1]) * 10 ** int(match[2])}`"
    if match := re.fullmatch(r"([0-9]+)([A-Za-z_]\w*)", piece):
        if match[2] in _WORD_OPERATORS:
            return f"put a space after `{match[1]}`"
        return f"write `{match[1]} * {match[2]}` for a product; no name begins with a digit"
    return "write whole numbers; expressions have no fractions"


def _stray(piece: str, start: int, before: list[Token]) -> ExprError:
    end = start + len(piece)
    called = len(before) > 1 and before[-1].kind == "name" and before[-2].text in ("(", ",")
    if piece == "=" and called:
        return ExprError("arguments have no names", before[-1].start, end, "write the values alone, in order")
    if not piece.isascii() or not piece.isprintable():
        shown = f"`{piece}` (U+{ord(piece):04X})" if piece.isprintable() else f"U+{ord(piece):04X}"
        help = (
            "write a plain space" if piece.isspace() else "names are made of letters a to z, digits and `_`"
        )
        return ExprError(f"the character {shown} is not part of the language", start, end, help)
    help = OPERATORS.get(piece, "remove it")
    return ExprError(f"`{piece}` is not an operator of the language", start, end, help)


@dataclass(slots=True)
class _Bracket:
    token: Token | None
    kind: str
    ifs: list[Token]


def check_form(text: str, tokens: tuple[Token, ...]) -> None:
    """Check that operands and operators alternate, and that brackets and `if` have their partners."""
    if not tokens:
        raise ExprError("the expression is empty", 0, len(text), "write an integer, a name or a formula")
    stack = [_Bracket(None, "whole", [])]
    previous = _BEGIN
    operand_due, run = True, 0
    for at, token in enumerate(tokens):
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        if operand_due:
            run = run + 1 if token.text in ("-", "+", "not") else 0
            if run > MAX_DEPTH:
                raise too_deep(token.start, token.end)
            operand_due = _begin_operand(token, previous, stack)
        else:
            operand_due = _continue(token, previous, following, stack)
        if len(stack) > MAX_DEPTH:
            raise too_deep(token.start, token.end)
        previous = token
    if operand_due:
        raise ExprError(
            f"nothing follows `{previous.text}`", previous.start, previous.end, "write a value after it"
        )
    _close_ifs(stack[-1])
    if stack[-1].token is not None:
        opening = stack[-1].token
        raise ExprError(
            f"`{opening.text}` is never closed", opening.start, opening.end, _unbalanced(opening.text)
        )


def too_deep(start: int, end: int) -> ExprError:
    """Return the error for an expression of too many levels."""
    message = f"the expression is more than {MAX_DEPTH} levels deep"
    return ExprError(message, start, end, "name parts of it in `let`")


def _begin_operand(token: Token, previous: Token, stack: list[_Bracket]) -> bool:
    """Take a token where a value has to begin; tell whether one is due still."""
    if token.kind in ("int", "name"):
        return False
    if token.text in ("-", "+"):
        return True
    if token.text == "not":
        if previous.text in _COMPARISONS | _ARITHMETIC:
            raise ExprError(
                f"`not` stands bare after `{previous.text}`",
                token.start,
                token.end,
                "put `not ...` in parentheses",
            )
        return True
    if token.text == "(":
        stack.append(_Bracket(token, "group", []))
        return True
    if token.text == ")" and previous.text == "(" and stack[-1].kind == "call":
        stack.pop()
        return False
    if token.text == "[":
        raise ExprError(
            "expressions have no lists", token.start, token.end, "write one value, or one expression an entry"
        )
    if previous is _BEGIN:
        raise ExprError(
            f"nothing stands before `{token.text}`", token.start, token.end, "write a value before it"
        )
    message = f"no value stands between `{previous.text}` and `{token.text}`"
    raise ExprError(message, previous.start, token.end, "write a value there")


def _continue(token: Token, previous: Token, following: Token | None, stack: list[_Bracket]) -> bool:
    """Take a token after a value; tell whether another value is due."""
    text = token.text
    if text in _BINARY:
        _pair_ifs(token, stack[-1])
        return True
    if text in _BRACKETS and previous.kind == "name":
        stack.append(_Bracket(token, "call" if text == "(" else "index", []))
        return True
    if text == "[" and previous.text == "]":
        raise ExprError("a tensor has one pair of brackets", previous.start, token.end, "write `[i, j]`")
    if text in (")", "]"):
        _close(token, stack)
        return False
    if text == ",":
        _close_ifs(stack[-1])
        if stack[-1].kind in ("whole", "group"):
            help = "write one expression, or name it in `let`"
            raise ExprError("`,` stands outside the arguments of a function", token.start, token.end, help)
        return True
    if text == "." and previous.kind == "name" and following is not None and following.kind == "name":
        return True
    if text == ".":
        raise ExprError(
            "`.` does not join two names", token.start, token.end, "write a name of two parts, as `tile.m`"
        )
    message = f"no operator stands between `{previous.text}` and `{text}`"
    raise ExprError(message, previous.start, token.end, "write an operator between them")


def _pair_ifs(token: Token, bracket: _Bracket) -> None:
    if token.text == "if":
        if bracket.ifs:
            raise ExprError(
                "an `if` stands inside the condition of another",
                token.start,
                token.end,
                "put the inner choice in parentheses",
            )
        bracket.ifs.append(token)
    elif token.text == "else":
        if not bracket.ifs:
            raise ExprError("`else` has no `if`", token.start, token.end, "write `x if condition else y`")
        bracket.ifs.pop()


def _close_ifs(bracket: _Bracket) -> None:
    if bracket.ifs:
        token = bracket.ifs[-1]
        raise ExprError("`if` has no `else`", token.start, token.end, "write `x if condition else y`")


def _close(token: Token, stack: list[_Bracket]) -> None:
    opening = stack[-1].token
    if opening is None:
        raise ExprError(f"`{token.text}` closes nothing", token.start, token.end, _unbalanced(token.text))
    if _BRACKETS[opening.text] != token.text:
        message = f"`{opening.text}` is closed by `{token.text}`"
        raise ExprError(message, opening.start, token.end, f"write `{_BRACKETS[opening.text]}`")
    _close_ifs(stack[-1])
    stack.pop()


def _unbalanced(bracket: str) -> str:
    partner = {**_BRACKETS, ")": "(", "]": "["}[bracket]
    advice = "YAML itself splits `[...]` and `{...}` at `,` `[` `]` `{` `}`, so quote the expression there"
    return f"write its `{partner}`; {advice}, or name it in `let`"
