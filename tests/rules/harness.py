"""The specs of the rules: tests/rules/<family>/<bad_pattern>/, with bad*.tsc.yaml and good*.tsc.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from tsc.check import Report, check_file, select
from tsc.diagnostics.model import Diagnostic, Rule
from tsc.diagnostics.render import text
from tsc.rules.registry import MODULES, RULES

ROOT = Path(__file__).resolve().parents[2]
SPECS = Path("tests/rules")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A rule, its family, and the folder of its specs, relative to the root."""

    rule: Rule
    family: str
    folder: Path
    checked: bool  # by the rule's own file, on specs; what the reader or the models report has none

    @property
    def bad(self) -> list[Path]:
        """The specs that break the rule and no other."""
        return self._specs("bad")

    @property
    def good(self) -> list[Path]:
        """The same specs with the edit made that the help asks for."""
        return self._specs("good")

    def _specs(self, kind: str) -> list[Path]:
        return sorted(path.relative_to(ROOT) for path in (ROOT / self.folder).glob(f"{kind}*.tsc.*"))


def _on_specs(module: ModuleType) -> bool:
    """Whether specs can break a rule that is checked: what is derived they cannot get wrong."""
    return hasattr(module, "check") and not getattr(module, "DERIVED", False)


def _pattern(module: ModuleType) -> Pattern:
    *_, family, file = module.__name__.split(".")
    return Pattern(module.RULE, family, SPECS / family / file, _on_specs(module))


PATTERNS = tuple(map(_pattern, MODULES))
CHECKED = {f"{it.family} {it.rule.name}": it for it in PATTERNS if it.checked}
WITH_SPECS = {f"{it.family} {it.rule.name}": it for it in PATTERNS if it.bad}
BAD = {str(path.relative_to(SPECS)): (pattern, path) for pattern in PATTERNS for path in pattern.bad}
GOOD = {str(path.relative_to(SPECS)): path for pattern in PATTERNS for path in pattern.good}


def check(path: Path) -> Report:
    """Check a spec by its path from the root, which is the working directory of these tests.

    The language is larger than what is generated, and a rule holds for all of it.
    """
    report = check_file(str(path))
    if "not_generated" in path.parts:
        return report
    # A spec about another rule may have what the proof does not follow.
    proved = "proof" in path.parts or "accept" in path.parts
    wanted = ("TSC",) if "advice" in path.parts else ()  # which is silent unless it is asked for
    return select(report, wanted, ignore=("TSC59",) if proved else ("TSC59", "TSC345"))


def shown(diagnostics: tuple[Diagnostic, ...]) -> list[str]:
    """Give each diagnostic as one line that says enough to mend the spec."""
    return [f"{it.span.start.line}: {it.code} {it.name}: {it.message}" for it in diagnostics]


def rendered(report: Report) -> str:
    """Give the report as `tsc check` prints it."""
    return text.render(report.diagnostics, report.sources, RULES)
