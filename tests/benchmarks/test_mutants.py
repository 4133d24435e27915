"""The mutants of the shipped schedules, their results, and that the check still rejects what failed."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks import mutants, mutate
from benchmarks.mutate import KEPT, Mutant, drops, guards, steps, verb, written

ROOT = Path(__file__).parents[2]


@cache
def made() -> dict[str, Mutant]:
    return {mutant.name: mutant for mutant in mutants.every_mutant()}


def measured() -> list[str]:
    return sorted({row["spec"] for row in mutants.result()["mutants"]})


def test_there_are_enough_of_each_and_no_two_alike() -> None:
    for spec in ("copy/tma", "norm/rmsnorm", "copy/merge", "copy/fork"):
        assert sum(mutant.spec == spec for mutant in made().values()) >= 60
    assert len({(mutant.spec, mutant.text) for mutant in made().values()}) == len(made())


def test_every_mutant_differs_from_its_spec() -> None:
    shipped = {
        spec: written(yaml.safe_load(mutants.spec_path(spec).read_text("utf-8"))) for spec in mutants.SPECS
    }
    assert all(mutant.text != shipped[mutant.spec] for mutant in made().values())


def test_mutants_are_the_same_each_time() -> None:
    spec = "copy/grid_stride"
    text = mutants.spec_path(spec).read_text(encoding="utf-8")
    again = mutate.mutants(spec, text, *mutants.SPECS[spec])
    assert again == [mutant for mutant in made().values() if mutant.spec == spec]


@pytest.mark.parametrize("spec", mutants.SPECS)
def test_what_a_spec_computes_is_not_changed(spec: str) -> None:
    text = mutants.spec_path(spec).read_text(encoding="utf-8")
    results = sum(verb(step) in KEPT for _, _, step, _ in steps(yaml.safe_load(text)))
    for sort in (drops, guards):
        for mutation in sort(yaml.safe_load(text)):
            data = yaml.safe_load(text)
            mutation.change(data)
            left = sum(verb(step) in KEPT for _, _, step, _ in steps(data))
            assert left >= results - ("load" in mutation.words)


def test_the_results_add_up() -> None:
    facts = mutants.result()
    assert {"date", "device", "driver", "torch", "tsc", "commit", "judged", "method"} <= facts.keys()
    assert "unknown" not in (facts["commit"], facts["judged"])
    for group, counts in facts["counts"].items():
        rows = mutants.of(facts["mutants"], group)
        assert counts == mutants.confusion(rows)
        assert sum(row["outcome"] != "not buildable" for row in rows) >= 60
    assert {row["outcome"] for row in facts["mutants"]} <= set(mutants.OUTCOMES)
    assert all(row["proved"] == (not row["rules"]) for row in facts["mutants"])


def test_the_shipped_kernels_were_right_amid_the_mutants() -> None:
    controls = mutants.result()["controls"]
    assert {name.partition("-")[0] for name in controls} == {spec.replace("/", "_") for spec in measured()}
    assert set(controls.values()) == {"right"}


def test_every_hang_was_seen_alone_too() -> None:
    facts = mutants.result()
    later = {spec for added in facts.get("later", ()) for spec in added["specs"]}
    hangs = sum(row["outcome"] == "hang" for row in facts["mutants"] if row["spec"] not in later)
    assert facts["hangs run again alone"] == facts["hangs"] == hangs


def test_nothing_that_was_proved_failed() -> None:
    assert mutants.false_proofs(mutants.result()) == []
    assert set(mutants.result()["further"]) == {"right"}


def test_a_false_proof_is_noticed() -> None:
    row = {"name": "x", "proved": True, "outcome": "hang"}
    assert mutants.false_proofs({"mutants": [row]}) == ["x"]


def test_later_specs_join_a_result() -> None:
    row = {"spec": "copy/tma", "name": "x", "proved": True, "outcome": "right"}
    old: dict[str, Any] = {"commit": "a", "controls": {"x": "right"}, "counts": {}, "mutants": [row]}
    new = {**old, "commit": "b", "controls": {"y": "right"}, "mutants": [{**row, "spec": "copy/fork"}]}
    for _ in range(2):  # A second time it takes the place of the first.
        old = mutants.joined(old, new)
        assert [it["spec"] for it in old["mutants"]] == ["copy/tma", "copy/fork"]
        assert old["later"] == [{"specs": ["copy/fork"], "commit": "b"}]
    assert old["commit"] == "a" and old["controls"].keys() == {"x", "y"}


@pytest.mark.parametrize("spec", measured())
def test_the_check_rejects_what_failed_on_the_gpu(spec: str) -> None:
    judged = 0
    for row in mutants.result()["mutants"]:
        mutant = made().get(row["name"])
        if row["spec"] != spec or row["outcome"] not in mutants.FAILED:
            continue
        if mutant is not None and mutant.words == row["words"]:
            judged += 1
            assert not mutants.verdict_of(mutant.name, mutant.text)["proved"], row["words"]
    assert judged


def test_the_table_shows_every_count() -> None:
    shown = mutants.table()
    for group, counts in mutants.result()["counts"].items():
        for verdict in ("proved", "rejected"):
            cells = [counts[f"{verdict}, {outcome}"] for outcome in mutants.OUTCOMES]
            assert f"| {group} | {sum(cells)} | {verdict} | {' | '.join(map(str, cells))} |" in shown


def test_the_page_on_the_proof_has_the_table() -> None:
    page = (ROOT / "docs" / "proof.md").read_text(encoding="utf-8")
    shown = page.partition("<!-- mutants -->")[2].partition("<!-- /mutants -->")[0]
    assert shown.strip() == mutants.table().strip()
