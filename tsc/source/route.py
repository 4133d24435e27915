"""Routes: how a place in a document is named before its line and column are looked up."""

from __future__ import annotations

import re

Route = tuple[str | int, ...]
"""Keys and indices from the document's root."""

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def show_route(route: Route) -> str:
    """Give a route as text, `tasks.load.schedule[0].acquire`; a key that is no plain name is quoted."""
    parts: list[str] = []
    for step in route:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        else:
            key = step if _BARE.fullmatch(step) else _quote(step)
            parts.append(f".{key}" if parts else key)
    return "".join(parts)


def _quote(key: str) -> str:
    return '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'
