"""Points, what they change, and the conditions that they meet."""

from __future__ import annotations

import pytest

from tsc.expr import parse
from tsc.spec.document import Tune
from tsc.spec.overrides import UsageError, parse_overrides
from tsc.tune.space import known, overrides_of, points, unmet


def test_the_last_value_changes_fastest_and_the_own_values_come_first() -> None:
    found = list(
        points(Tune.model_validate({"try": {"A": [1, 2], "resources.q.policy": ["static", "atomic"]}}))
    )
    assert [(point.name, dict(point.values)) for point in found] == [
        ("default", {}),
        ("p0000", {"A": 1, "resources.q.policy": "static"}),
        ("p0001", {"A": 1, "resources.q.policy": "atomic"}),
        ("p0002", {"A": 2, "resources.q.policy": "static"}),
        ("p0003", {"A": 2, "resources.q.policy": "atomic"}),
    ]
    assert found[0].words() == "the spec's own values"
    assert found[1].words() == "A=1 resources.q.policy=static"


def test_constants_are_defined_routes_are_set_and_the_call_comes_last() -> None:
    base = parse_overrides(["A=9"], ["target=sm_90a"])
    changes = overrides_of({"A": 1, "PDL": True, "tasks.load.schedule[1].l2": 128}, base)
    assert [(it.name, it.value, it.option) for it in changes.defines] == [
        ("A", 1, "-D A=1"),
        ("PDL", True, "-D PDL=true"),
        ("A", 9, "-D A=9"),
    ]
    assert [(it.route, it.value) for it in changes.settings] == [
        (("tasks", "load", "schedule", 1, "l2"), 128),
        (("target",), "sm_90a"),
    ]


@pytest.mark.parametrize("key", ["", "a b", "x..y", "tasks[", "1A"])
def test_what_is_no_route_is_refused(key: str) -> None:
    with pytest.raises(UsageError, match="is neither a constant nor a route"):
        overrides_of({key: 1})


def test_the_first_condition_that_fails_is_named() -> None:
    where = (parse("BM * BN <= 49152"), parse("STORES < STAGES"), parse("unknown > 3"))
    assert unmet(where, {"BM": 256, "BN": 192, "STORES": 2, "STAGES": 4}) == ""
    assert unmet(where, {"BM": 256, "BN": 256, "STORES": 9, "STAGES": 4}) == "BM * BN <= 49152"
    assert unmet(where, {"BM": "wide", "STORES": 4, "STAGES": 4}) == "STORES < STAGES"


@pytest.mark.parametrize(
    ("defines", "settings", "n", "ctas"),
    [
        ([], [], 2, 3),
        (["n=9"], [], 9, 3),
        ([], ["constants.n=9"], 9, 3),
        ([], ["launch.ctas_per_sm=8"], 2, 8),
        ([], ["launch={ctas_per_sm: 8}"], 2, None),
        ([], ["launch.cluster={m: 2}"], 2, 3),
    ],
)
def test_what_the_call_sets_is_what_a_condition_sees(
    defines: list[str], settings: list[str], n: int, ctas: int | None
) -> None:
    base = parse_overrides(defines, settings)
    found = known({"A": 1, "n": 5}, {"n": 2, "launch.ctas_per_sm": 3}, base)
    assert (found["A"], found["n"], found.get("launch.ctas_per_sm")) == (1, n, ctas)
