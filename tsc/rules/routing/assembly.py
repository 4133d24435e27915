"""The instructions in a snippet's `asm`: arithmetic is the snippet's own affair, all else the schedule's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tsc.rules.routing.snippet import Piece

_STRING = re.compile(r'"((?:\\.|[^"\\])*)"')
_SEPARATOR = re.compile(r"\\n|\\t|[;{}\n\t]")
_MNEMONIC = re.compile(r"(?:[A-Za-z_$]\w*:)?\s*(?:@!?%?\w+\s+)?([a-z][\w]*)((?:[.:]+\w+)*)")

# PTX ISA, chapter Instruction Set: arithmetic, comparison, logic, conversion, moves between registers, and
# exchanges within a warp.
_ARITHMETIC = frozenset(
    """
    abs activemask add addc and bfe bfi bfind bmsk brev clz cnot copysign cos cvt div dp2a dp4a elect ex2 fma
    fns lg2 lop3 mad mad24 madc match max min mov mul mul24 neg not or popc prmt rcp redux rem rsqrt sad
    selp set setp shf shfl shl shr sin slct sqrt sub subc szext tanh testp vote xor
    """.split()  # noqa: SIM905 - a list would hide the words
)


def instructions(text: str, found: list[Piece]) -> Iterator[tuple[Piece, str, str]]:
    """Yield each `asm` with an instruction that is no arithmetic, why that is refused, and the help."""
    for i, piece in enumerate(found):
        if piece.text not in ("asm", "__asm__", "__asm"):
            continue
        end = next((later.start for later in found[i + 1 :] if later.text in (":", "::", ";")), len(text))
        for name, modifiers in _mnemonics(text[piece.start : end]):
            if name not in _ARITHMETIC:
                why = f"issues `{name}{modifiers}`, and only arithmetic is a snippet's own"
                yield piece, why, "use the views of what the work lists, or write an operation as a step"
                break


def _mnemonics(statement: str) -> Iterator[tuple[str, str]]:
    code = "".join(match.group(1) for match in _STRING.finditer(statement))
    for line in _SEPARATOR.split(code):
        match = _MNEMONIC.match(line.strip(" ()"))
        if match is not None:
            yield match.group(1), match.group(2)
