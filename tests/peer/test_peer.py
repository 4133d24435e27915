"""Every case of the peer's checks has the verdict that the hardware gives it, by rule and line."""

from __future__ import annotations

import pytest

from tests.peer.cases import SECTIONS, Shared
from tests.peer.harness import PEERS, ROOT, Peer, check, differences, spec_of
from tsc.diagnostics.model import Severity
from tsc.emit import emit
from tsc.emit.generated import not_generated
from tsc.rules.registry import by_name
from tsc.source import read
from tsc.toolchain.build import compile_source

CASES = [
    pytest.param(section, case, id=f"{section}/{case}")
    for section, cases in SECTIONS.items()
    for case in cases
]
FIXED = [
    pytest.param(PEERS[f"{section}/{shared.spec}"], shared, id=f"{section}/{case}")
    for section, cases in SECTIONS.items()
    for case, shared in cases.items()
    if shared.given and f"{section}/{shared.spec}" in PEERS
]


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("name", PEERS)
def test_has_its_verdict(name: str) -> None:
    peer = PEERS[name]
    report = check(peer)
    assert differences(peer, report) == []
    if peer.verdict == "accept":
        assert report.judgement is not None
        assert report.judgement.outcome == "proved"


WIDE = "TMA coordinates have 32 bits"  # said of cases whose loops are not bounded, and not of their protocol


@pytest.mark.parametrize("name", [name for name, peer in PEERS.items() if peer.verdict == "accept"])
def test_what_is_accepted_is_generated_and_compiles(name: str) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    program = check(PEERS[name]).program
    assert program is not None and program.target is not None
    sentences = [sentence for _, sentence in not_generated(program)]
    assert [one for one in sentences if WIDE not in one] == []
    if not sentences:
        text = emit(program, document=read(str(PEERS[name].path)).document)
        said = compile_source(text, {}, program.target.arch).diagnostics
        assert [it.message for it in said if it.name != "register-spill"] == []


@pytest.mark.parametrize(("peer", "shared"), FIXED)
def test_has_it_with_fixed_numbers(peer: Peer, shared: Shared) -> None:
    report = check(peer, shared.given)
    assert differences(peer, report) == []
    assert report.judgement is not None
    assert report.judgement.outcome == "proved"


@pytest.mark.parametrize(("section", "case"), CASES)
def test_every_case_has_a_spec(section: str, case: str) -> None:
    peer, _ = spec_of(section, case)
    assert peer is not None


def test_every_spec_belongs_to_a_case() -> None:
    known = {f"{section}/{shared.spec}" for section, cases in SECTIONS.items() for shared in cases.values()}
    assert [name for name, peer in PEERS.items() if f"{peer.section}/{peer.case}" not in known] == []


@pytest.mark.parametrize("name", PEERS)
def test_says_what_it_is(name: str) -> None:
    peer = PEERS[name]
    assert peer.title.endswith(".") and peer.verdict in ("accept", "reject")
    rules = [by_name(rule) for _, rule in peer.marks]
    assert None not in rules, "a mark names no rule"
    errors = [rule for rule in rules if rule is not None and rule.severity is Severity.ERROR]
    assert bool(errors) == (peer.verdict == "reject")


def test_titles_differ() -> None:
    titles = [peer.title for peer in PEERS.values()]
    assert sorted(titles) == sorted(set(titles))


@pytest.mark.parametrize("section", SECTIONS)
def test_verdicts_of_a_section(section: str) -> None:
    """A right schedule is accepted, a wrong one rejected, unless its spec says why it cannot be written."""
    wanted = "accept" if section in ("good", "wrongly_rejected") else "reject"
    others = [
        case
        for case in SECTIONS[section]
        if (peer := spec_of(section, case)[0]) is not None and peer.verdict != wanted and not peer.cannot
    ]
    assert others == []
