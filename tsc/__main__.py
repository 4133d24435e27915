"""`python -m tsc` is the command `tsc`."""

from __future__ import annotations

from tsc.cli import run

run()
