"""The questions of a program: its loop bounds and conditions as numbers, facts, bounds and tests."""

from __future__ import annotations

from tsc.prove.asked.model import FALSE, TRUE, Around, Promise
from tsc.prove.asked.questions import MOST_ROUNDS, Questions

__all__ = ["FALSE", "MOST_ROUNDS", "TRUE", "Around", "Promise", "Questions"]
