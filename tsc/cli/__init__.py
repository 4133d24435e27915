"""The command `tsc`: arguments in, text and an exit code out; the work is done by the stages it calls."""

from __future__ import annotations

from tsc.cli.app import main, run

__all__ = ["main", "run"]
