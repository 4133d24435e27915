"""The specs of tests/peer: their headers, the marks at their lines, and what the check says of them.

A spec begins with a line that says what it is, and a line with its verdict. Comments below say why something
cannot be written (`# cannot be written: ...`). At the line of each expected diagnostic stands `# <- rule`,
several with commas.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.peer.cases import SECTIONS, Shared
from tsc.check import Report, check_file, select
from tsc.rules.registry import OF_PROOF
from tsc.spec.overrides import parse_overrides

ROOT = Path(__file__).resolve().parents[2]
SPECS = Path("tests/peer")
SUFFIX = ".tsc.yaml"

_MARK = re.compile(r"# <- ([a-z][a-z0-9, -]*)$")
_CANNOT = "cannot be written: "


@dataclass(frozen=True, slots=True)
class Peer:
    """A spec of a section: `title` to `cannot` are its header, `marks` the lines and rules it expects."""

    section: str
    name: str
    title: str
    verdict: str
    cannot: str
    marks: frozenset[tuple[int, str]]

    @property
    def path(self) -> Path:
        """The spec, from the root."""
        return SPECS / self.section / f"{self.name}{SUFFIX}"

    @property
    def case(self) -> str:
        """The name of the spec without what tells neighbours apart."""
        return self.name.partition(".")[0]


def _read(path: Path) -> Peer:
    lines = path.read_text(encoding="utf-8").splitlines()
    header = []
    for line in lines:
        if not line.startswith("#"):
            break
        header.append(line.removeprefix("#").strip())
    title, verdict, *rest = [*header, "", ""]
    cannot = " ".join(rest).partition(_CANNOT)[2].strip()
    marks = {
        (number, rule.strip())
        for number, line in enumerate(lines, 1)
        if (found := _MARK.search(line))
        for rule in found[1].split(",")
    }
    name = path.name.removesuffix(SUFFIX)
    verdict = verdict.removeprefix("verdict: ")
    return Peer(path.parent.name, name, title, verdict, cannot, frozenset(marks))


PEERS = {
    f"{section}/{peer.name}": peer
    for section in SECTIONS
    for peer in map(_read, sorted((ROOT / SPECS / section).glob(f"*{SUFFIX}")))
}


def spec_of(section: str, case: str) -> tuple[Peer | None, Shared]:
    """Give the spec that serves a case, None if there is none, and what makes it that case."""
    shared = SECTIONS[section][case]
    return PEERS.get(f"{section}/{shared.spec}"), shared


def check(peer: Peer, given: Mapping[str, int] | None = None) -> Report:
    """Check a spec by its path from the root, with numbers set; what is only not generated yet passes."""
    defines = [f"{name}={value}" for name, value in (given or {}).items()]
    report = check_file(str(peer.path), overrides=parse_overrides(defines, ()))
    return select(report, ignore=("TSC59",))


def differences(peer: Peer, report: Report) -> list[str]:
    """Say what was expected and not reported, and what was reported and not expected.

    The proof shows a fault where the run meets it, which may be the other of two steps: its marks may stand
    at a related place.
    """
    met: set[tuple[int, str]] = set()
    extra = []
    for it in report.diagnostics:
        lines = {it.span.start.line}
        if it.name in OF_PROOF:
            lines |= {label.span.start.line for label in it.related}
        here = {(line, it.name) for line in lines} & peer.marks
        met |= here
        if not here:
            extra.append(f"line {it.span.start.line}: {it.name}: {it.message}")
    return [f"line {line}: no {rule}" for line, rule in sorted(peer.marks - met)] + extra
