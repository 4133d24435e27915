"""What loading and launching raise, each with one sentence for the person who made the call.

KernelError
├── LoadError      the file, the driver or the machine: no kernel came of it
└── LaunchError    one call: its arguments, its stream or the GPU; nothing was launched
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class KernelError(Exception):
    """The base of both, for callers that treat them alike."""


class LoadError(KernelError):
    """`tsc.load` made no kernel of what it was given."""


class LaunchError(KernelError):
    """A call was refused before anything was launched, or the driver refused the launch."""


def suggestion(name: str, known: Iterable[str]) -> str:
    """The tail of a sentence about an unknown name: `; did you mean `x`?`, or nothing."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def listing(names: Iterable[str]) -> str:
    """`a`, `b` and `c`, as a sentence lists names."""
    quoted = [f"`{name}`" for name in names]
    return " and ".join((", ".join(quoted[:-1]), quoted[-1])) if len(quoted) > 1 else "".join(quoted)
