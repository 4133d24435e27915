"""docs/checks.md has every check of the peer once, with a rule that some spec breaks, or with a reason."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import CODE, tables
from tests.peer.harness import PEERS
from tests.rules.harness import PATTERNS
from tsc.rules.registry import OF_BUILD, RULES

PAGE = "checks.md"
LAST = 328
REASONED = ("impossible", "right", "no such call")
RULE = re.compile(r"(TSC\d{3}) ([a-z][a-z0-9-]*)")

TABLES = [one for one in tables(PAGE) if one.marker.startswith("checks: ")]
ROWS = [row for one in TABLES for row in one.rows]
CLAIMED = sorted({code for row in ROWS for code in CODE.findall(row[2])})


def test_every_check_has_one_row_in_order() -> None:
    assert [int(row[0]) for row in ROWS] == list(range(1, LAST + 1))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_names_rules_or_gives_a_reason(row: list[str]) -> None:
    _, what, here, why = row
    assert what
    if here in REASONED:
        assert why
    else:
        rules = here.split(", ")
        assert all(re.fullmatch(rf"`{RULE.pattern}`", rule) for rule in rules), here
        assert len(set(rules)) == len(rules)


def test_a_reference_to_another_row_leads_to_a_reason() -> None:
    referred = {int(row[0]): re.findall(r"as for (\d+)", row[3]) for row in ROWS}
    reasons = {int(row[0]): row[3] for row in ROWS}
    for number, others in referred.items():
        for other in map(int, others):
            assert other != number and reasons[other] and not reasons[other].startswith("as for"), number


@pytest.mark.parametrize("claim", CLAIMED)
def test_a_rule_exists_under_its_code(claim: str) -> None:
    found = RULE.fullmatch(claim)
    assert found is not None
    assert found[2] in {rule.name for rule in RULES if rule.code == found[1]}


@pytest.mark.parametrize("claim", CLAIMED)
def test_a_rule_is_broken_by_a_spec(claim: str) -> None:
    name = claim.partition(" ")[2]
    broken = {pattern.rule.name for pattern in PATTERNS if pattern.bad}
    broken |= {rule for peer in PEERS.values() for _, rule in peer.marks}
    assert name in broken | OF_BUILD


def test_rules_in_reasons_exist() -> None:
    names = {rule.name for rule in RULES}
    for row in ROWS:
        for code in CODE.findall(row[3]):
            if re.fullmatch(r"[a-z]+(-[a-z]+)+", code):
                assert code in names, row[0]
