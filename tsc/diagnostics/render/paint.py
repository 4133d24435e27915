"""ANSI colours, or none."""

from __future__ import annotations

from dataclasses import dataclass

_CODES = {"red": "31", "yellow": "33", "blue": "34", "cyan": "36"}


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours text if `enabled`, and otherwise returns it as it is."""

    enabled: bool

    def __call__(self, text: str, color: str = "", *, bold: bool = False) -> str:
        """Give the text in a colour, in bold, or both."""
        codes = [code for code in ("1" if bold else "", _CODES.get(color, "")) if code]
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if self.enabled and codes and text else text
