"""Snippets with their texts, read from files where they are kept there."""

from __future__ import annotations

from pathlib import Path

from tsc.program.model import Work
from tsc.source.route import Route
from tsc.spec.document import Spec


def works_of(spec: Spec, base: Path | None, name: str) -> dict[str, Work]:
    """Resolve every work; `base` is the folder of the spec, `name` what its lines are called in `#line`.

    A file that cannot be read leaves the text empty, which a rule reports.
    """
    found = {}
    for key, model in spec.work.items():
        route: Route = ("work", key)
        text, text_name, text_route = model.cuda, name, (*route, "cuda")
        if model.cuda is None and model.file is not None:
            text, text_name, text_route = _read(base, model.file), model.file, (*route, "file")
        found[key] = Work(
            key,
            route,
            tuple(model.args.items()),
            tuple(model.returns.items()),
            model.aux,
            model.reads,
            model.writes,
            model.updates,
            text,
            text_name,
            text_route,
        )
    return found


def includes_of(spec: Spec, base: Path | None) -> dict[str, str | None]:
    """Read the headers that snippets include, by their paths as written; an unreadable one has no text."""
    return {path: _read(base, path) for path in spec.include}


def _read(base: Path | None, file: str) -> str | None:
    if base is None:
        return None
    try:
        return (base / file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError):
        return None
