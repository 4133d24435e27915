"""The table of what was found fastest: overrides and time of each case that was measured, maybe its cubin.

`NAME.tuned.json`, alone or in a folder beside the cubins that it names. The rule that picks a case: those of
the same GPU, or all if there is none, and of these the nearest, by the sum of |log| of the ratios of sizes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tsc.artifact.error import ArtifactError

TABLE_VERSION: Final = 1
SUFFIX: Final = ".tuned.json"

Sizes = Mapping[str, int | float]


@dataclass(frozen=True, slots=True)
class Entry:
    """One case: its sizes, what the winner changes in the spec, and how fast that is."""

    case: Sizes
    overrides: Mapping[str, Any]
    """constant or route to value; empty where the spec's own values won"""
    device: str
    microseconds: float
    ratio: float
    """time of the spec's own values over the winner's"""
    ratio_error: float = 0.0
    cubin: str = ""
    """file beside the table, empty if there is none"""


@dataclass(frozen=True, slots=True)
class Table:
    """All cases of one spec."""

    spec: str
    spec_sha256: str
    kernel: str
    entries: tuple[Entry, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    """date, driver and the like, for people"""


def distance(one: Sizes, other: Sizes) -> float:
    """How far two cases are apart: the sum of |log| of the ratios of the sizes that both have."""
    return sum(abs(math.log(max(1, one[name]) / max(1, other[name]))) for name in one if name in other)


def nearest(entries: Iterable[Entry], sizes: Sizes, device: str = "") -> Entry | None:
    """The entry for these sizes, the first of equal ones; None if there is no entry at all."""
    known = list(entries)
    same = [entry for entry in known if entry.device == device]
    return min(same or known, key=lambda entry: distance(entry.case, sizes), default=None)


def to_json(table: Table) -> str:
    """The table as indented JSON with a line end."""
    return (
        json.dumps(
            {
                "tuned": TABLE_VERSION,
                "spec": table.spec,
                "spec_sha256": table.spec_sha256,
                "kernel": table.kernel,
                **table.facts,
                "cases": [_plain(entry) for entry in table.entries],
            },
            indent=1,
        )
        + "\n"
    )


def _plain(entry: Entry) -> dict[str, Any]:
    plain = {
        "case": dict(entry.case),
        "overrides": dict(entry.overrides),
        "device": entry.device,
        "microseconds": round(entry.microseconds, 3),
        "ratio": round(entry.ratio, 4),
        "ratio_error": round(entry.ratio_error, 4),
    }
    return plain | ({"cubin": entry.cubin} if entry.cubin else {})


def from_json(text: str, name: str) -> Table:
    """Read a table. Raises ArtifactError with a sentence that names it."""
    try:
        data = json.loads(text)
    except ValueError:
        raise ArtifactError(f"`{name}` is no JSON") from None
    if not isinstance(data, dict) or "tuned" not in data:
        raise ArtifactError(f"`{name}` is no table of `tsc tune`")
    if data["tuned"] != TABLE_VERSION:
        raise ArtifactError(
            f"`{name}` is a table of version {data['tuned']}, and this tsc reads version {TABLE_VERSION}"
        )
    try:
        entries = tuple(_entry(one) for one in data["cases"])
        known = {"tuned", "spec", "spec_sha256", "kernel", "cases"}
        facts = {key: value for key, value in data.items() if key not in known}
        return Table(str(data["spec"]), str(data["spec_sha256"]), str(data["kernel"]), entries, facts)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ArtifactError(f"`{name}` is a damaged table: {type(error).__name__} at {error}") from None


def _entry(data: dict[str, Any]) -> Entry:
    case = {str(name): value for name, value in data["case"].items()}
    if any(not isinstance(value, (int, float)) for value in case.values()):
        raise TypeError(f"`{case}`")
    return Entry(
        case,
        dict(data["overrides"]),
        str(data["device"]),
        float(data["microseconds"]),
        float(data["ratio"]),
        float(data.get("ratio_error", 0.0)),
        str(data.get("cubin", "")),
    )


def table_file(path: Path) -> Path:
    """The table that a path means: itself, or the one in a folder. Raises ArtifactError."""
    if not path.is_dir():
        return path
    found = sorted(path.glob(f"*{SUFFIX}"))
    if len(found) != 1:
        if not found:
            raise ArtifactError(
                f"`{path}` is a folder, not a cubin, and has neither cubins for several targets nor a "
                f"`*{SUFFIX}` in it, which `tsc tune` or `python -m tsc.tune.measure` writes"
            )
        raise ArtifactError(
            f"the folder `{path}` has {len(found)} files `*{SUFFIX}`, and a tuned kernel has one; name it"
        )
    return found[0]


def read_table(path: Path) -> tuple[Table, Path]:
    """The table of a file or folder, and the file. Raises ArtifactError."""
    file = table_file(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ArtifactError(f"`{file}` cannot be read: {reason}") from None
    return from_json(text, str(file)), file


def merged(tables: Sequence[Table]) -> Table:
    """One table of several of the same spec: later entries replace earlier ones of the same case and GPU."""
    entries: dict[tuple[str, tuple[tuple[str, int | float], ...]], Entry] = {}
    for table in tables:
        for entry in table.entries:
            entries[entry.device, tuple(sorted(entry.case.items()))] = entry
    last = tables[-1]
    return Table(last.spec, last.spec_sha256, last.kernel, tuple(entries.values()), last.facts)
