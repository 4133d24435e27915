"""A plug-in of pytest that runs GPU tests without a GPU, to learn which cubins they ask for.

`torch` and loaded kernels are things that can be anything, so a test goes on until it compares. What it asked
for until then goes into the file that TSC_RECORD names.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest

import tsc
from tests import ready

BINARY = "add sub mul matmul truediv floordiv mod and or xor lshift rshift pow"
OTHER = "getattr call getitem neg pos invert enter eq ne lt le gt ge"


class Anything:
    """What every operation gives again; as a number it is 1, and it is true."""

    def __index__(self) -> int:
        return 1

    __int__ = __len__ = __hash__ = __index__

    def __float__(self) -> float:
        return 1.0

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Anything]:
        return iter(())

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def __exit__(self, *given: Any) -> None:
        pass


def _again(self: Anything, *given: Any, **named: Any) -> Anything:
    return Anything()


for _name in [*BINARY.split(), *(f"r{name}" for name in BINARY.split()), *OTHER.split()]:
    setattr(Anything, f"__{_name}__", _again)


class Torch(Anything):
    """PyTorch, with a GPU of the right kind."""

    def __init__(self) -> None:
        self.cuda = Cuda()


class Cuda(Anything):
    """One Hopper."""

    @staticmethod
    def get_device_capability() -> tuple[int, int]:
        """Return that of an H100 or H200."""
        return 9, 0


ASKED: dict[str, ready.Recipe] = {}
BROKEN: list[str] = []


def _image(name: str, recipe: ready.Recipe) -> bytes:
    ASKED[name] = recipe
    return b""


def pytest_configure() -> None:
    """Put the stand-ins in place."""
    sys.modules["torch"] = cast(ModuleType, Torch())
    ready.image = _image
    tsc.load = cast(Any, lambda *given, **named: Anything())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Iterator[Any]:
    """A comparison may fail here; a test that ends for another reason may have had more to ask for."""
    report = yield
    compared = (AssertionError, pytest.fail.Exception, pytest.skip.Exception)
    if call.excinfo is not None and not call.excinfo.errisinstance(compared):
        BROKEN.append(f"{item.nodeid}: {call.excinfo.exconly()}")
    return report


def pytest_sessionfinish() -> None:
    """Write what was asked for, and which tests ended too early."""
    Path(os.environ["TSC_RECORD"]).write_bytes(pickle.dumps((ASKED, BROKEN)))
