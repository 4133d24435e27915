"""Documents as a whole: one finding a mistake, in bounds, at its place, in YAML and in TOML."""

from __future__ import annotations

import time

import pytest

from tests.spec.base import BASE, document, edited, load, shown
from tsc.diagnostics.model import Finding, Place
from tsc.spec.load import MOST, SAME, bounded, to_spec
from tsc.spec.overrides import Overrides

TOML = """\
tsc = 1
kernel = "scale"
target = "sm_90a"
[constants]
ROWS = "BK // 2"
[resources.ring]
kind = "smme"
[tasks.load]
warps = 1.5
schedule = [
  { acquire = "ring", wait = "ring" },
  { tma_load = "x", at = ["cdiv(h", "TH)"], to = "ring" },
]
"""


def test_toml_has_the_same_findings() -> None:
    spec, said = load(TOML, language="toml")
    assert spec is None
    assert said == [
        "5:8 '\"BK // 2\"' non-literal-constant: a constant is a literal, and `BK // 2` is an expression; "
        "write `let: {ROWS: BK // 2}`, which is known at build too",
        "7:8 '\"smme\"' unknown-kind: the `kind` of a resource is one of `smem`, `tmem`, `registers`, "
        "`signal`, `merge`, `fork`, `queue`, `turn` and `barrier`, and this is `smme`; did you mean `smem`?",
        "9:9 '1.5' wrong-type: `warps` takes an integer expression, and this is the number 1.5",
        "11:23 'wait' not-one-verb: a step has one verb; this has `acquire` and `wait`; "
        "write 2 steps: `{acquire: ring}` and `{wait: ring}`",
        *[line for line in said if line.startswith("12:")],
    ]
    # Quotes are whole in TOML: nothing cuts an expression there, so each text is wrong on its own.
    assert [line.split()[2] for line in said[4:]] == ["bad-expression:", "bad-expression:"]


def test_all_mistakes_of_a_document_come_in_one_run() -> None:
    text = edited(
        ("kernel: scale", "kernle: scale"),
        ("ROWS: 64", "ROWS: BK // 2"),
        ("policy: static", "policy: statik"),
        ("warps: 1", "warps: 1 +"),
        ("- acquire: ring", "- acquirre: ring"),
        ("dtype: bf16, shape: [ROWS", "dtype: bf16, shape: [cdiv(1, 2)"),
    )
    rules = [line.split("' ", 1)[1].partition(":")[0] for line in load(text)[1]]
    assert rules == [
        "unknown-key",
        "non-literal-constant",
        "wrong-choice",
        "cut-expression",
        "bad-expression",
        "not-one-verb",
    ]


def test_related_places_are_named() -> None:
    read = document(edited(("- acquire: ring", "- {wait: ring, release: ring}")))
    (finding,) = to_spec(read)[1]
    assert [(place.route[-2:], place.part, place.label) for place in finding.related] == [
        ((0, "wait"), "key", "the first one")
    ]
    read = document(edited(("[tile.row * ROWS, tile.column * 64], to", "[max(a, 4, b), 0], to")))
    (finding,) = to_spec(read)[1]
    assert (finding.place.route[-2:], finding.place.label) == (("at", 0), "read as 3 entries")


def test_an_alias_is_no_second_place() -> None:
    text = BASE.replace("{dtype: bf16, shape: [m, n]}", "&t {dtype: bf61, shape: [m, n]}", 1)
    text = text.replace("  y: {dtype: bf16, shape: [m, n]}", "  y: *t")
    _, said = load(text)
    assert len(said) == 2 and len(set(said)) == 1  # the check shows equal findings of one place once


def test_one_mistake_in_many_places_is_shown_once() -> None:
    steps = "\n".join("          - {acquire: ring, colour: 1}" for _ in range(300))
    read = document(edited(("          - acquire: ring", steps)))
    (finding,) = to_spec(read)[1]
    assert shown(finding, read) == (
        "19:29 'colour' unknown-key: `acquire` has no option `colour`, here and in 299 more places; "
        "`acquire` has no options"
    )
    assert [place.route[-2] for place in finding.related] == [1, 2, 3, 4]
    assert {place.label for place in finding.related} == {"here too"}


def test_many_mistakes_end_with_how_many_are_left() -> None:
    steps = "\n".join(f"          - {{acquire: ring, colour_{i}: 1}}" for i in range(300))
    findings = to_spec(document(edited(("          - acquire: ring", steps))))[1]
    assert len(findings) == MOST + 1
    last = findings[-1]
    assert (last.rule, last.message) == ("too-many-problems", "200 more problems are not shown")
    assert last.place.route[-2:] == (100, "colour_100")


def test_few_alike_are_all_shown() -> None:
    same = [Finding("unknown-key", "m", Place(("a", i))) for i in range(SAME)]
    assert bounded(same) == same


def test_a_mistake_in_each_of_many_entries_takes_bounded_time() -> None:
    text = edited(("          - acquire: ring", "          - {acquire: [" + "1, " * 30_000 + "]}"))
    start = time.perf_counter()
    assert len(to_spec(document(text))[1]) == 1
    findings = to_spec(document(BASE + "graph: {a: [" + "1, " * 30_000 + "]}\n"))[1]
    assert len(findings) == MOST + 1
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize("data", [None, 1, "text", [], [1], {"tsc": None}, {"tasks": {"a": []}}, {"": {}}])
def test_any_data_gives_findings(data: object) -> None:
    read = document(BASE)
    object.__setattr__(read, "data", data)
    spec, findings = to_spec(read, Overrides())
    assert spec is None and findings
