"""The version of the tool, in one place: the package's metadata and every manifest take it from here."""

from __future__ import annotations

VERSION = "0.1.0"
