"""The specs of the cases: tests/cases/<number>_<what>/, what is expected in the first lines of each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tsc.check import Report, check_file, select
from tsc.diagnostics.model import Diagnostic

ROOT = Path(__file__).resolve().parents[2]
CASES = Path("tests/cases")
PROVED = "proved"
_EXPECT = re.compile(r"# expect: (.+)")
_MARK = re.compile(r" # here$")


@dataclass(frozen=True, slots=True)
class Case:
    """One spec, and the rules that it breaks (none: it is proved).

    `lines` are those marked `# here`: a finding is there, as its own place or as a related one.
    """

    path: Path  # from the root
    expect: frozenset[str]
    lines: tuple[int, ...]

    @property
    def name(self) -> str:
        """The folder and the file, without their endings."""
        return f"{self.path.parent.name}/{self.path.name.removesuffix('.tsc.yaml')}"


def _case(path: Path) -> Case:
    lines = path.read_text("utf-8").splitlines()
    said = next((match[1] for line in lines if (match := _EXPECT.fullmatch(line))), "")
    expect = frozenset(said.split(", ")) - {PROVED, ""}
    marked = tuple(i for i, line in enumerate(lines, 1) if _MARK.search(line))
    return Case(path.relative_to(ROOT), expect, marked)


SPECS = {case.name: case for case in map(_case, sorted((ROOT / CASES).glob("*/*.tsc.yaml")))}


def check(path: Path) -> Report:
    """Check a spec by its path from the root. The language is larger than what is generated."""
    return select(check_file(str(path)), ignore=("TSC59",))


def lines_of(diagnostic: Diagnostic) -> set[int]:
    """Return the lines that a diagnostic points at."""
    spans = (diagnostic.span, *(label.span for label in diagnostic.related))
    return {line for span in spans for line in range(span.start.line, span.end.line + 1)}
