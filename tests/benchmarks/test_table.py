"""The README's speeds are those of the result files, and those say how they were taken."""

from __future__ import annotations

from benchmarks import table
from tests.house.modules import ROOT


def test_readme_shows_the_results() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("<!-- results -->\n")[2].partition("<!-- end of results -->")[0]
    assert shown == f"{table.conditions()}\n{table.table()}"


def test_results_say_how_they_were_taken() -> None:
    for suite in table.SHOWN:
        facts = table.result(suite)
        assert {"date", "commit", "device", "driver", "torch", "tsc", "method"} <= facts.keys()
        assert facts["commit"] != "unknown"
        for case in facts["cases"]:
            base = next(row for row in case["rows"] if row["name"] == "memcpy")
            for row in case["rows"]:
                wanted = base["microseconds"] / row["microseconds"]
                assert abs(row["ratio"] - wanted) < 1e-3
