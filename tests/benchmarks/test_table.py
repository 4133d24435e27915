"""The README's speeds are those of the result files, and those say how they were taken."""

from __future__ import annotations

from benchmarks import table
from tests.house.modules import ROOT


def test_readme_shows_the_results() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("<!-- results -->\n")[2].partition("<!-- end of results -->")[0]
    assert shown == f"{table.conditions()}\n{table.table()}"


def test_results_say_how_they_were_taken() -> None:
    for suite in (*table.SHOWN, *table.COMPARED):
        facts = table.result(suite)
        assert {"date", "commit", "device", "driver", "torch", "tsc", "method"} <= facts.keys()
        assert facts["commit"] != "unknown"
        for case in facts["cases"]:
            base = next(row for row in case["rows"] if row["name"] == case.get("base", "memcpy"))
            for row in case["rows"]:
                wanted = base["microseconds"] / row["microseconds"]
                assert abs(row["ratio"] - wanted) < 1e-3 + 0.01 / row["microseconds"]  # two digits are kept


def rows(suite: str, number: int) -> dict[str, float]:
    return {row["name"]: row["ratio"] for row in table.result(suite)["cases"][number]["rows"]}


def test_queues_keep_up() -> None:
    half_a_gigabyte = rows("copy", 1)
    static = half_a_gigabyte["copy_tma_persistent"]
    atomic = half_a_gigabyte["copy_tma_persistent_policyatomic"]
    assert static >= 0.97 and atomic >= 0.97 * static
    even, random, tenth = (rows("queue", number)["copy_varlen_policyatomic"] for number in range(3))
    assert even >= 0.98 and random >= 1.3 and tenth >= 1.3


def test_an_early_start_pays() -> None:
    assert all(rows("chain", number)["second starts early"] >= 1.15 for number in range(2))
