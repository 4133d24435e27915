"""What every test can use: the `golden` fixture, the `gpu` marker, and hypothesis without deadlines."""

from __future__ import annotations

import ctypes
import difflib
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent
GOLDEN = TESTS / "golden"

# A shared core stalls at random, so a deadline would fail by chance; CI draws the same examples each time.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the files in tests/golden")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--update-golden") and os.environ.get("CI"):
        raise pytest.UsageError("CI compares golden files and never rewrites them")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marked = [item for item in items if item.get_closest_marker("gpu")]
    # TSC_REQUIRE_GPU=1 on a GPU machine keeps a broken driver from looking like a clean run.
    reason = "" if not marked or os.environ.get("TSC_REQUIRE_GPU") == "1" else _why_no_gpu()
    if reason:
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))


def _why_no_gpu() -> str:
    """The reason why no kernel can run here, empty where one can."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no CUDA driver on this machine"
    count = ctypes.c_int()
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
        return "no GPU on this machine"
    return ""


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Compares a text with tests/golden/<test file>/<test name><suffix>; --update-golden writes that file."""
    test_file = request.path.relative_to(TESTS).with_suffix("")
    test_name = re.sub(r"[^\w.\[\]=-]+", "_", request.node.name)

    def check(text: str, suffix: str = ".txt") -> None:
        path = GOLDEN / test_file / f"{test_name}{suffix}"
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        shown = path.relative_to(TESTS.parent)
        if not path.is_file():
            pytest.fail(f"{shown} does not exist: run this test with --update-golden and read what it writes")
        expected = path.read_text(encoding="utf-8")
        if text != expected:
            lines = difflib.unified_diff(
                expected.splitlines(keepends=True), text.splitlines(keepends=True), str(shown), "this run"
            )
            pytest.fail("".join(lines), pytrace=False)

    return check
