"""How large a spec may be: each limit is far above any kernel and far below what could hurt."""

from __future__ import annotations

from tsc.diagnostics.model import Finding, Place
from tsc.source.route import Route
from tsc.source.span import Span
from tsc.source.wording import shown

MAX_BYTES = 4 * 1024 * 1024
MAX_LEVELS = 64
MAX_VALUES = 200_000
MAX_DIGITS = 400
MAX_FINDINGS = 100
INT_MIN = -(2**63)
INT_MAX = 2**63 - 1

TEXT_PER_VALUE = 256
"""A scalar of this many characters counts as one value more, so that aliases cannot multiply text either."""


def too_large(message: str, span: Span, route: Route = (), help: str = "") -> Finding:
    """Give the finding for a spec beyond a limit."""
    return Finding("input-too-large", message, Place(route, span=span), help=help)


def too_many_bytes(span: Span) -> Finding:
    """Give the finding for a text that is longer than `MAX_BYTES`."""
    return too_large(f"the text is longer than {MAX_BYTES:,} B, the most a spec may have", span)


def too_deep(span: Span, route: Route = ()) -> Finding:
    """Give the finding for a value nested deeper than `MAX_LEVELS`."""
    message = f"values are nested deeper than {MAX_LEVELS} levels here, the most a spec may have"
    return too_large(message, span, route, help="close the brackets, or take levels out")


def too_many_values(span: Span, route: Route = ()) -> Finding:
    """Give the finding for a document of more than `MAX_VALUES` values."""
    message = f"the document has more than {MAX_VALUES:,} values up to here, the most a spec may have"
    return too_large(message, span, route, help="generate fewer steps, or let `repeat` or `for` make them")


def too_many_digits(text: str, span: Span, route: Route = ()) -> Finding:
    """Give the finding for a number that no 64-bit integer or float holds."""
    return too_large(f"the number `{shown(text)}` does not fit in 64 bits", span, route)
