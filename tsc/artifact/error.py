"""The one error of this package: bytes that are not a kernel this tool can read."""

from __future__ import annotations


class ArtifactError(Exception):
    """A file is not a usable artifact; the text is one sentence that says why."""
