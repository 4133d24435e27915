"""The folder of a search: the space with its cubins, the journal, and in the end the table and its winners.

space.json        points, cases and the plan: what `tsc.tune.measure` reads
points/*.cubin    a cubin of each point that fits
compile.jsonl, measure.jsonl    what has been done
KERNEL.tuned.json, *.cubin      the result; a folder of these alone is enough to run
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SPACE_VERSION = 1
SPACE = "space.json"
POINTS = "points"
COMPILED = "compile.jsonl"
MEASURED = "measure.jsonl"


class TuneError(Exception):
    """The search cannot begin or go on; the text is the sentence for the user."""


@dataclass(frozen=True, slots=True)
class Space:
    """What there is to measure. `points` maps names to overrides; the cubin of one is `points/NAME.cubin`."""

    spec: str
    spec_sha256: str
    kernel: str
    plan: str
    """the JSON of what the kernel is run with and compared with"""
    cases: tuple[Mapping[str, Any], ...]
    points: Mapping[str, Mapping[str, Any]]


def write_space(folder: Path, space: Space) -> None:
    """Put the space into the folder, whole or not at all."""
    data = {
        "space": SPACE_VERSION,
        "spec": space.spec,
        "spec_sha256": space.spec_sha256,
        "kernel": space.kernel,
        "cases": [dict(case) for case in space.cases],
        "points": {name: dict(values) for name, values in space.points.items()},
        "plan": space.plan,
    }
    beside = folder / f"{SPACE}.part"
    beside.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    beside.replace(folder / SPACE)


def read_space(folder: Path) -> Space:
    """The space of a folder. Raises TuneError."""
    file = folder / SPACE
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except OSError:
        raise TuneError(
            f"`{folder}` has no `{SPACE}`; `tsc tune SPEC --compile-only -o {folder}` makes one"
        ) from None
    except ValueError:
        raise TuneError(f"`{file}` is no JSON") from None
    if not isinstance(data, dict) or data.get("space") != SPACE_VERSION:
        raise TuneError(f"`{file}` is no space of this tsc, which reads version {SPACE_VERSION}")
    try:
        return Space(
            str(data["spec"]),
            str(data["spec_sha256"]),
            str(data["kernel"]),
            str(data["plan"]),
            tuple(dict(case) for case in data["cases"]),
            {str(name): dict(values) for name, values in data["points"].items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise TuneError(f"`{file}` is damaged: {type(error).__name__} at {error}") from None


def cubin_of(folder: Path, point: str) -> Path:
    """The cubin of a point."""
    return folder / POINTS / f"{point}.cubin"


def called(case: Mapping[str, Any]) -> str:
    """A case as part of a file name."""
    return "_".join(f"{name}{value}" for name, value in case.items()) or "any"
