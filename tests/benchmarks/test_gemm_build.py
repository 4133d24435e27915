"""The configurations that are measured: their specs are there, and every shape has something to try."""

from __future__ import annotations

import json

from benchmarks import gemm, gemm_build
from tsc.spec.overrides import read_route

DATA = json.loads(gemm_build.CONFIGURATIONS.read_text(encoding="utf-8"))
KNOWN = gemm_build.configurations(DATA)


def test_every_configuration_is_of_a_spec_that_ships_and_sets_constants_or_routes() -> None:
    for spec, settings in KNOWN.values():
        assert (gemm_build.SPECS / f"{spec}.tsc.yaml").is_file()
        for key in settings:
            assert read_route(key)[1] == len(key)


def test_a_variant_is_its_configuration_and_more() -> None:
    data = {"configurations": {"c": {"spec": "s", "set": {"BM": 1, "BN": 2}, "vary": {"v": {"BN": 3}}}}}
    assert gemm_build.configurations(data) == {
        "c": ("s", {"BM": 1, "BN": 2}),
        "c-v": ("s", {"BM": 1, "BN": 3}),
    }


def test_every_shape_has_something_to_try_and_every_pattern_means_something() -> None:
    plan = gemm_build.plan_of(DATA, list(KNOWN))
    assert plan["shapes"].keys() == gemm.SHAPES.keys()
    assert all(plan["shapes"].values())
    patterns = [pattern for patterns in DATA["shapes"].values() for pattern in patterns]
    patterns += [pattern for case in DATA["more"] for pattern in case["try"]]
    assert [pattern for pattern in patterns if not gemm_build.matching([pattern], list(KNOWN))] == []


def test_a_plan_tries_what_was_built_alone() -> None:
    plan = gemm_build.plan_of(DATA, ["c128x256", "simple"])
    assert plan["shapes"]["square8192"] == ["c128x256"]
    assert plan["shapes"]["deepk"] == []
    assert next(case["try"] for case in plan["more"]) == ["simple"]


def test_names_are_in_the_order_of_the_patterns_and_once() -> None:
    assert gemm_build.matching(["b*", "*"], ["a", "b1", "b2"]) == ["b1", "b2", "a"]
