"""Headers that headers include."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsc.toolchain.errors import ToolchainError
from tsc.toolchain.includes import with_nested


def test_nested_headers_go_by_the_name_they_are_included_by(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "b.cuh").write_text('  # include "a.cuh"\n#include <cuda/atomic>\n', encoding="utf-8")
    (tmp_path / "lib" / "a.cuh").write_text(
        '#include "b.cuh"\n#include "with/the/compiler.h"\n', encoding="utf-8"
    )
    found = with_nested({"lib/b.cuh": '#include "a.cuh"\n', "gone.cuh": None}, tmp_path)
    assert list(found) == ["a.cuh", "b.cuh", "lib/b.cuh"]
    assert found["a.cuh"] == (tmp_path / "lib" / "a.cuh").read_text(encoding="utf-8")


def test_one_name_of_two_headers_is_refused(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.cuh").touch()
    headers = {"a/x.cuh": '#include "same.cuh"\n', "b/y.cuh": '#include "same.cuh"\n'}
    with pytest.raises(ToolchainError, match=r"`same.cuh` is the name of two headers, `.*`"):
        with_nested(headers, tmp_path)
    assert list(with_nested({"a/x.cuh": headers["a/x.cuh"]}, tmp_path)) == ["a/x.cuh", "same.cuh"]


def test_unreadable_header_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "bad.cuh").write_bytes(b"\xff")
    with pytest.raises(ToolchainError, match=r"the header `.*bad.cuh` cannot be read: it is not UTF-8"):
        with_nested({"x.cuh": '#include "bad.cuh"\n'}, tmp_path)
