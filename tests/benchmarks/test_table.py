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


def test_readme_shows_the_gemm_results() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("<!-- gemm results -->\n")[2].partition("<!-- end of gemm results -->")[0]
    facts = table.result("gemm")
    assert shown == f"{table.gemm_conditions(facts)}\n{table.gemm_table(facts)}"


def gemm_row(name: str, tflops: float, ratio: float | None = None) -> dict[str, object]:
    shown = {"tflops": tflops} | ({} if ratio is None else {"ratio": ratio, "ratio_error": 0.0042})
    return {"name": name, "settled": shown, "burst": shown}


def gemm_case(m: int, in_mean: bool, *ratios: float) -> dict[str, object]:
    kernels = [gemm_row(f"k{index}", 700 * ratio, ratio) for index, ratio in enumerate(ratios)]
    rows = [gemm_row("torch.matmul", 700.0), *kernels] if kernels else []
    return {"case": f"{m} x 8 x 8", "dtype": "bf16", "in_mean": in_mean, "rows": rows}


def test_gemm_table_takes_the_best_kernel_and_leaves_the_odd_shape_out_of_the_mean() -> None:
    cases = [gemm_case(1, True, 1.1, 1.21), gemm_case(2, True, 1.0), gemm_case(3, False, 6.0)]
    shown = table.gemm_table({"cases": [*cases, gemm_case(4, True)]}).splitlines()
    assert shown[2] == "| 1 x 8 x 8 | 700 / 700 | `k1` | 847 / 847 | 1.210 ± 0.004 | 1.210 ± 0.004 |"
    assert shown[4].startswith("| 3 x 8 x 8 |")
    assert shown[5:] == ["| geometric mean of 2 | | | | 1.100 | 1.100 |"]
