"""Every device header: what the house asks of its text, and that it compiles on its own without a word."""

from __future__ import annotations

import re

import pytest

from tests.codegen.headers import ARCHS, HEADERS, compiled, notes

# What a kernel gets along with a header may not take names that are likely in a spec or a snippet.
MACROS = {"DEVICE", "TMA_OF_RANK"}


@pytest.mark.parametrize("name", HEADERS)
def test_header_keeps_the_habits(name: str) -> None:
    text = HEADERS[name]
    lines = text.splitlines()
    assert lines[0].startswith("// ")
    assert "#pragma once" in lines
    assert len(lines) < 400
    assert [line for line in lines if len(line) > 110] == []
    included = re.findall(r"^#include (.*)$", text, re.MULTILINE)
    assert [include for include in included if include.strip('"') not in HEADERS] == []
    assert included == sorted(included)


@pytest.mark.parametrize("name", HEADERS)
def test_header_leaves_no_macro_behind(name: str) -> None:
    defined = set(re.findall(r"^#define (\w+)", HEADERS[name], re.MULTILINE))
    undefined = set(re.findall(r"^#undef (\w+)", HEADERS[name], re.MULTILINE))
    assert defined - undefined <= MACROS


@pytest.mark.parametrize("name", HEADERS)
def test_header_compiles_alone(name: str) -> None:
    source = f'#include "{name}"\nextern "C" __global__ void kernel() {{}}\n'
    result = compiled(source, "sm_90a")
    assert notes(result.log) == []
    assert "bytes stack frame" in result.log


@pytest.mark.parametrize("arch", ARCHS)
def test_all_headers_compile_together_and_leave_nothing_in_memory(arch: str) -> None:
    source = "".join(f'#include "{name}"\n' for name in HEADERS) + 'extern "C" __global__ void kernel() {}\n'
    result = compiled(source, arch)
    assert notes(result.log) == []
    assert "0 bytes gmem" in result.log
    assert re.findall(r"^\.(?:global|const|shared)\b.*", result.ptx, re.MULTILINE) == []


def test_inlined_in_the_order_of_their_includes_they_compile_as_well() -> None:
    seen: list[str] = []

    def walk(name: str) -> None:
        for include in re.findall(r'^#include "(.*)"$', HEADERS[name], re.MULTILINE):
            walk(include)
        if name not in seen:
            seen.append(name)

    for name in HEADERS:
        walk(name)
    dropped = re.compile(r'^#(pragma once|include ".*")\n', re.MULTILINE)
    texts = [dropped.sub("", HEADERS[name]) for name in seen]
    result = compiled("".join(texts) + 'extern "C" __global__ void kernel() {}\n', "sm_90a")
    assert notes(result.log) == []


@pytest.mark.parametrize("watchdog", ["", "#define WATCHDOG_NS 2000000000ull\n"])
def test_watchdog_traps_only_where_it_is_asked_for(watchdog: str) -> None:
    kernel = 'extern "C" __global__ void kernel(unsigned b) { mbarrier_wait(b, 0); }\n'
    result = compiled(watchdog + '#include "mbarrier.cuh"\n' + kernel, "sm_90a")
    assert ("trap;" in result.ptx) == bool(watchdog)
    assert ("%globaltimer" in result.ptx) == bool(watchdog)
