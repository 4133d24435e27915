"""The table of tuned cases: written, read, refused and asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tsc.artifact.error import ArtifactError
from tsc.artifact.tuned import Entry, Table, distance, from_json, merged, nearest, read_table, to_json


def entry(m: int, n: int = 4096, device: str = "H200", stages: int = 4) -> Entry:
    return Entry({"m": m, "n": n}, {"STAGES": stages}, device, 12.5, 1.1, 0.01)


def table(*entries: Entry) -> Table:
    return Table("g.tsc.yaml", "ab" * 32, "gemm", entries, {"date": "2026-11-30"})


def test_a_table_is_read_as_it_was_written() -> None:
    made = table(entry(8192), Entry({"m": 1}, {}, "H200", 1.0, 1.0, cubin="p0.cubin"))
    assert from_json(to_json(made), "t") == made


@pytest.mark.parametrize(
    ("sizes", "m"),
    [({"m": 8192, "n": 4096}, 8192), ({"m": 300, "n": 4096}, 128), ({"m": 1025, "n": 1}, 8192), ({}, 128)],
)
def test_the_nearest_case_by_the_logarithm(sizes: dict[str, int], m: int) -> None:
    # Between 128 and 8192 the middle is 1024.
    found = nearest([entry(128), entry(8192)], sizes)
    assert found is not None and found.case["m"] == m


def test_an_extent_of_zero_is_near_one() -> None:
    assert distance({"m": 0}, {"m": 1}) == 0.0
    assert distance({"m": 2, "k": 8}, {"m": 4, "n": 9}) == pytest.approx(0.6931, abs=1e-3)


def test_cases_of_the_same_gpu_come_first_and_others_serve_where_there_is_none() -> None:
    entries = [entry(128, device="H100"), entry(8192, device="H200")]
    near = nearest(entries, {"m": 128}, "H200")
    assert near is not None and near.device == "H200"
    elsewhere = nearest(entries, {"m": 128}, "B200")
    assert elsewhere is not None and elsewhere.device == "H100"
    assert nearest([], {"m": 1}) is None


def test_later_tables_replace_cases_of_the_same_gpu() -> None:
    both = merged([table(entry(1), entry(2)), table(entry(2, stages=6), entry(2, device="H100"))])
    found = [(one.case["m"], one.device, one.overrides["STAGES"]) for one in both.entries]
    assert found == [(1, "H200", 4), (2, "H200", 6), (2, "H100", 4)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "`t` is no JSON"),
        ("[]", "`t` is no table of `tsc tune`"),
        ('{"tuned": 9}', "`t` is a table of version 9, and this tsc reads version 1"),
        ('{"tuned": 1}', "`t` is a damaged table: KeyError at 'cases'"),
    ],
)
def test_what_is_no_table_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(ArtifactError) as error:
        from_json(text, "t")
    assert str(error.value) == sentence


def test_a_case_of_no_numbers_is_damage() -> None:
    data: dict[str, Any] = json.loads(to_json(table(entry(1))))
    data["cases"][0]["case"]["m"] = "many"
    with pytest.raises(ArtifactError, match="damaged table: TypeError"):
        from_json(json.dumps(data), "t")


def test_a_folder_stands_for_its_one_table(tmp_path: Path) -> None:
    with pytest.raises(
        ArtifactError,
        match=r"is a folder, not a cubin, and has neither cubins .* nor a `\*.tuned.json` in it",
    ):
        read_table(tmp_path)
    file = tmp_path / "g.tuned.json"
    file.write_text(to_json(table(entry(1))))
    assert read_table(tmp_path) == read_table(file) == (table(entry(1)), file)
    (tmp_path / "h.tuned.json").write_text("{}")
    with pytest.raises(ArtifactError, match="has 2 files"):
        read_table(tmp_path)
    with pytest.raises(ArtifactError, match="cannot be read: No such file"):
        read_table(tmp_path / "gone.tuned.json")
