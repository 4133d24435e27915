"""How a piece of the user's text stands in a sentence."""

from __future__ import annotations


def shown(text: str, most: int = 60) -> str:
    """Give a text on one line, its middle cut out if it is longer than `most` characters."""
    if len(text) > most:
        half = (most - 3) // 2
        text = f"{text[:half]}...{text[-half:]}"
    return " ".join(text.split())
