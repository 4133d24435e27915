"""Which names a header declares, and in which order headers are inlined."""

from __future__ import annotations

from tsc.emit.headers import body, declared, headers, needed

TEXT = """
#define KEPT 1
#define GONE(x) \\
  x
#undef GONE
enum : int { ONE = 1, TWO };
template <class T> struct Holder { enum : int { size = 4 }; T inner(); };
template <class T> using other = Holder<T>;
DEVICE constexpr int sum(int a, int b) { return helper(a, b); }  // not_this(
constexpr bool flag = true;
"""


def test_only_what_everybody_sees_is_declared() -> None:
    assert set(declared(TEXT)) == {"KEPT", "ONE", "TWO", "Holder", "other", "sum", "flag"}


def test_every_header_declares_something_and_no_two_the_same() -> None:
    owners: dict[str, str] = {}
    for header in headers().values():
        assert header.declares, header.name
        for name in header.declares:
            # A header may have its own form of a function that one before it declares.
            assert owners.setdefault(name, header.name) in (header.name, *header.includes), name


def test_a_name_brings_its_header_and_those_before_it() -> None:
    names = [header.name for header in needed("tma_load(ring + Cursor<3>::stage)")]
    assert names == ["types.cuh", "ring.cuh", "tma_map.cuh", "tma_load.cuh"]


def test_comments_and_strings_bring_nothing() -> None:
    assert needed('// tma_load\nx = "Cursor"; /* elect_one */') == ()


def test_an_inlined_header_includes_nothing() -> None:
    for header in headers().values():
        assert "#include" not in body(header) and "#pragma once" not in body(header)
