"""The mutants of the shipped GEMMs: enough of each, none that only computes less, and their results."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import pytest
import yaml

from benchmarks import mutants_gemm, mutate_gemm
from benchmarks.mutants import FAILED, OUTCOMES, confusion, false_proofs, spec_path, verdict_of
from benchmarks.mutate import Mutant, steps, verb, written
from benchmarks.mutate_gemm_hunt import hunted, looked

LEAST = {
    "gemm/hopper_bf16": 150,
    "gemm/hopper_bf16_pingpong": 100,
    "gemm/hopper_splitk": 50,
    "gemm/hopper_splitk_cluster": 150,
}


@cache
def made() -> dict[str, Mutant]:
    return {mutant.name: mutant for mutant in mutants_gemm.every_mutant()}


def document(spec: str) -> Any:
    return mutate_gemm.base(spec, spec_path(spec).read_text(encoding="utf-8"))


def test_there_are_enough_of_each_and_no_two_alike() -> None:
    for spec, least in LEAST.items():
        assert sum(mutant.spec == spec for mutant in made().values()) >= least
    assert len({(mutant.spec, mutant.text) for mutant in made().values()}) == len(made())


def test_no_mutant_is_the_spec() -> None:
    assert not {mutant.text for mutant in made().values()} & set(mutants_gemm.controls().values())


@pytest.mark.parametrize("spec", mutants_gemm.SPECS)
def test_single_changes_leave_no_product_and_no_store_out(spec: str) -> None:
    data = document(spec)

    def counts(document: Any) -> dict[str, int]:
        words = [verb(step) for _, _, step, _ in steps(document)]
        return {word: words.count(word) for word in ("wgmma", "do", "tma_store", "zero")}

    before = counts(data)
    for mutation in (it for group in mutate_gemm.singles(data, {}).values() for it in group):
        mutated = copy.deepcopy(data)
        mutation.change(mutated)
        after = counts(mutated)
        clears = "zero" in mutation.words or "k_tiles == 0" in mutation.words or "k_begin" in mutation.words
        for word in ("wgmma", "do", "tma_store", *(() if clears else ("zero",))):
            assert after[word] >= before[word], mutation.words


@pytest.mark.parametrize("spec", mutants_gemm.SPECS)
def test_all_that_is_sought_changes_the_spec(spec: str) -> None:
    data = document(spec)
    found = [*hunted(data), *looked(data)]
    assert len({mutation.words for mutation in found}) == len(found)
    for mutation in found:
        mutated = copy.deepcopy(data)
        mutation.change(mutated)
        assert written(mutated) != written(data), mutation.words


def test_warps_sleep_before_each_step_that_synchronises() -> None:
    text = written(document("gemm/hopper_bf16_pingpong"))
    slow = yaml.safe_load(mutate_gemm.delayed(text))
    wanted = sum(verb(step) in mutate_gemm.SLEPT for _, _, step, _ in steps(yaml.safe_load(text)))
    assert sum(step == {"do": "nap"} for _, _, step, _ in steps(slow)) == wanted


@pytest.mark.parametrize("name", mutants_gemm.controls())
def test_the_small_specs_are_proved_as_they_are_and_slowed(name: str) -> None:
    text = mutants_gemm.controls()[name]
    assert verdict_of(name, text)["rules"] == []
    assert verdict_of(name, mutate_gemm.delayed(text))["rules"] == []


def test_the_table_shows_every_count() -> None:
    row = {"proved": True, "rules": [], "outcome": "right"}
    counts = {spec: confusion([row]) for spec in mutants_gemm.SPECS}
    facts: dict[str, Any] = {
        "commit": "c",
        "judged": "j",
        "date": "d",
        "device": "G",
        "driver": "1",
        "method": "so",
    }
    facts |= {"counts": counts, "apart": [row | {"outcome": "wrong"}]}
    shown = mutants_gemm.table(facts)
    for spec in mutants_gemm.SPECS:
        assert f"| {spec} | 1 | proved | 1 | 0 | 0 | 0 | 0 |" in shown
    assert "commit c, checked at j" in shown
    assert "Of 1 proved mutants that touch what is trusted, 1 came out wrong." in shown


def test_what_was_only_observed_is_not_released() -> None:
    """The proof once took this for right, and the loader waited for ever."""
    observed = next(it for it in made().values() if it.words == "`wait: ab` with {observe: True} in `math`")
    assert verdict_of(observed.name, observed.text)["rules"] == ["TSC340 deadlock"]


def test_the_results_add_up() -> None:
    facts = mutants_gemm.result()
    assert {"date", "device", "driver", "torch", "tsc", "commit", "judged", "method"} <= facts.keys()
    assert "unknown" not in (facts["commit"], facts["judged"])
    for spec, counts in facts["counts"].items():
        rows = [row for row in facts["mutants"] if row["spec"] == spec]
        assert counts == confusion(rows)
        assert len(rows) >= LEAST[spec]
    assert {row["outcome"] for row in facts["mutants"]} <= set(OUTCOMES)
    assert all(row["proved"] == (not row["rules"]) for row in facts["mutants"])
    assert set(facts["controls"].values()) == {"right"}


def test_nothing_that_was_proved_failed() -> None:
    assert false_proofs(mutants_gemm.result()) == []


@pytest.mark.parametrize("spec", sorted({row["spec"] for row in mutants_gemm.result()["mutants"]}))
def test_the_check_rejects_what_failed_on_the_gpu(spec: str) -> None:
    judged = 0
    for row in mutants_gemm.result()["mutants"]:
        mutant = made().get(row["name"])
        if row["spec"] != spec or row["outcome"] not in FAILED or mutant is None:
            continue
        if mutant.words == row["words"]:
            judged += 1
            assert not verdict_of(mutant.name, mutant.text)["proved"], row["words"]
    assert judged
