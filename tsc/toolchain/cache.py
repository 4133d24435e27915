"""Keeps what was compiled, one file a key, safe under many processes.

cuda.core's program cache would do, but its import alone costs 250 ms and pulls in numpy, more than most
compiles. An entry holds a digest of all it says, so a torn, foreign or damaged file is a miss.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tsc.toolchain.write import publish

_MAGIC: Final = b"tsc cache 1\n"
# A user may point the cache at a folder with other files, which are none of its business.
_ENTRY: Final = re.compile(r"[0-9a-f]{64}\.tsc")
_UNFINISHED: Final = re.compile(r"\.[0-9a-f]{64}\.tsc\.[0-9a-f]+\.tmp")
DEFAULT_LIMIT: Final = 256 << 20
"""Bytes that a cache may hold before the entries used longest ago go."""

_ABANDONED_SECONDS: Final = 3600


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of entries. Nothing that happens to the folder is an error: it costs a compile."""

    folder: Path
    limit: int = DEFAULT_LIMIT

    def get(self, key: str) -> dict[str, bytes] | None:
        """The parts of an entry, None if there is no whole one."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        parts = _unpacked(key, data)
        # The time of the file is the time of its last use, by which old entries go.
        with contextlib.suppress(OSError):
            if parts is None:
                path.unlink()
            else:
                os.utime(path)
        return parts

    def put(self, key: str, parts: Mapping[str, bytes]) -> bool:
        """Store an entry; returns whether that worked."""
        data = _packed(key, parts)
        if len(data) > self.limit:
            return False
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            publish(self._path(key), data)
        except OSError:
            return False
        self._trim()
        return True

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.tsc"

    def _trim(self) -> None:
        """Remove the oldest entries above the limit, and what a killed process left behind."""
        entries: list[tuple[float, int, Path]] = []
        for path, status in self._files():
            if _ENTRY.fullmatch(path.name):
                entries.append((status.st_mtime, status.st_size, path))
            elif _UNFINISHED.fullmatch(path.name) and status.st_mtime < time.time() - _ABANDONED_SECONDS:
                with contextlib.suppress(OSError):
                    path.unlink()
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self.limit:
                return
            with contextlib.suppress(OSError):
                path.unlink()
            total -= size

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        with contextlib.suppress(OSError):
            for path in self.folder.iterdir():
                with contextlib.suppress(OSError):
                    yield path, path.stat()


def default_cache(environ: Mapping[str, str] | None = None) -> Cache | None:
    """The user's cache: `TSC_CACHE_DIR`, else the cache folder of the system; None if that is set empty."""
    variables = os.environ if environ is None else environ
    chosen = variables.get("TSC_CACHE_DIR")
    if chosen is not None:
        return Cache(Path(chosen)) if chosen.strip() else None
    base = variables.get("XDG_CACHE_HOME") or (variables.get("LOCALAPPDATA") if os.name == "nt" else None)
    if base and Path(base).is_absolute():
        return Cache(Path(base) / "tsc")
    try:
        return Cache(Path.home() / ".cache" / "tsc")
    except RuntimeError:
        return None


def cache_key(facts: Mapping[str, object]) -> str:
    """A name for whatever these facts decide; `facts` is plain data with string keys."""
    text = json.dumps(facts, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _packed(key: str, parts: Mapping[str, bytes]) -> bytes:
    header = json.dumps({name: len(part) for name, part in parts.items()}).encode() + b"\n"
    body = header + b"".join(parts.values())
    return _MAGIC + _digest(key, body) + body


def _unpacked(key: str, data: bytes) -> dict[str, bytes] | None:
    start = len(_MAGIC) + hashlib.sha256().digest_size
    body = data[start:]
    if not data.startswith(_MAGIC) or data[len(_MAGIC) : start] != _digest(key, body):
        return None
    header, _, rest = body.partition(b"\n")
    parts: dict[str, bytes] = {}
    for name, size in json.loads(header).items():
        parts[name], rest = rest[:size], rest[size:]
    return parts


def _digest(key: str, body: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\n" + body).digest()
