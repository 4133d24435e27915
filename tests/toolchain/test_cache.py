"""The cache: whatever happens to its folder costs a compile and nothing else."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tsc.toolchain import write
from tsc.toolchain.cache import Cache, cache_key, default_cache

PARTS = {"cubin": b"\x7fELF\0\n" * 40, "log": b"", "ptx": b".version\n"}
KEY = cache_key({"source": "x"})


def only_entry(folder: Path) -> Path:
    (entry,) = folder.iterdir()
    return entry


def test_what_was_put_is_got(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "made" / "on demand")
    assert cache.get(KEY) is None
    assert cache.put(KEY, PARTS)
    assert cache.get(KEY) == PARTS
    assert cache.get(cache_key({"source": "y"})) is None


@given(at=st.integers(0, 10**6), value=st.integers(1, 255))
def test_one_wrong_byte_is_a_miss(tmp_path_factory: pytest.TempPathFactory, at: int, value: int) -> None:
    cache = Cache(tmp_path_factory.mktemp("cache"))
    cache.put(KEY, PARTS)
    entry = only_entry(cache.folder)
    data = bytearray(entry.read_bytes())
    data[at % len(data)] ^= value
    entry.write_bytes(data)
    assert cache.get(KEY) is None
    assert cache.put(KEY, PARTS) and cache.get(KEY) == PARTS


def test_every_truncation_is_a_miss(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put(KEY, PARTS)
    whole = only_entry(tmp_path).read_bytes()
    for length in range(len(whole)):
        (tmp_path / f"{KEY}.tsc").write_bytes(whole[:length])
        assert cache.get(KEY) is None
    (tmp_path / f"{KEY}.tsc").write_bytes(whole + b"more")
    assert cache.get(KEY) is None


def test_an_entry_of_another_key_is_a_miss(tmp_path: Path) -> None:
    cache, other = Cache(tmp_path), cache_key({"source": "y"})
    cache.put(KEY, PARTS)
    only_entry(tmp_path).rename(tmp_path / f"{other}.tsc")
    assert cache.get(other) is None


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        cache = Cache(folder)
        assert not cache.put(KEY, PARTS)
        assert cache.get(KEY) is None


def test_an_entry_that_is_a_folder_is_no_error(tmp_path: Path) -> None:
    (tmp_path / f"{KEY}.tsc").mkdir()
    cache = Cache(tmp_path)
    assert cache.get(KEY) is None
    assert not cache.put(KEY, PARTS)


def test_a_full_disk_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    cache = Cache(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(write.os, "write", full)
        assert not cache.put(KEY, PARTS)
    assert list(tmp_path.iterdir()) == []
    assert cache.get(KEY) is None


def test_entries_used_longest_ago_go_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    keys = [cache_key({"number": number}) for number in range(4)]
    now = time.time()
    for age, key in enumerate(reversed(keys)):
        cache.put(key, PARTS)
        os.utime(tmp_path / f"{key}.tsc", (now - 100 * age - 100,) * 2)
    size = (tmp_path / f"{keys[0]}.tsc").stat().st_size
    assert cache.get(keys[0]) == PARTS  # which makes it the newest
    Cache(tmp_path, limit=3 * size).put(KEY, PARTS)
    assert [key for key in (*keys, KEY) if cache.get(key)] == [keys[0], keys[3], KEY]


def test_an_entry_above_the_limit_is_not_kept(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=100)
    assert not cache.put(KEY, PARTS)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_swept(tmp_path: Path) -> None:
    old, new = (tmp_path / f".{KEY}.tsc.{end}.tmp" for end in ("0a", "0b"))
    foreign = [tmp_path / name for name in ("notes.txt", ".other.tmp", "name.tsc")]
    for path in (old, new, *foreign):
        path.write_bytes(b"x" * 1000)
        os.utime(path, (0, 0) if path != new else None)
    cache = Cache(tmp_path, limit=900)
    assert cache.put(KEY, PARTS)
    assert not old.exists() and new.exists() and all(path.exists() for path in foreign)
    assert cache.get(KEY) == PARTS


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"TSC_CACHE_DIR": "/a/b", "XDG_CACHE_HOME": "/x"}, "/a/b"),
        ({"TSC_CACHE_DIR": ""}, None),
        ({"TSC_CACHE_DIR": " "}, None),
        ({"XDG_CACHE_HOME": "/x"}, "/x/tsc"),
    ],
)
def test_the_environment_chooses_the_folder(variables: dict[str, str], folder: str | None) -> None:
    cache = default_cache(variables)
    assert (cache and str(cache.folder)) == folder


def test_without_a_home_there_is_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    assert default_cache({"XDG_CACHE_HOME": "relative"}) == Cache(Path.home() / ".cache" / "tsc")

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    assert default_cache({}) is None


def test_the_key_is_made_of_every_fact() -> None:
    keys = {
        cache_key(facts)
        for facts in (
            {"a": "1", "b": "2"},
            {"a": "12", "b": ""},
            {"a": "1", "b": ["2"]},
            {"a": "1", "c": "2"},
            {"a": "1", "b": "2\udc80"},
        )
    }
    assert len(keys) == 5
    assert cache_key({"a": 1, "b": 2}) == cache_key({"b": 2, "a": 1})
