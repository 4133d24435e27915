"""Dataclasses made quickly behave as those of the standard library do."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from dataclasses import field
from typing import Any

import pytest

from tsc.cli.quick import quickly

DATACLASS = dataclasses.dataclass


def classes(make: Any) -> tuple[type[Any], type[Any], type[Any]]:
    """Three classes as modules of the package write them."""

    @make(frozen=True, slots=True)
    class Point:
        __module__ = "tsc.cli.quick"
        x: int
        y: tuple[int, ...] = ()
        note: str = field(default="", compare=False)

    @make(frozen=True, slots=True)
    class Named(Point):
        __module__ = "tsc.cli.quick"
        name: str = field(default="n", repr=False, hash=False)

        def __repr__(self) -> str:
            return "a name"

    @make(frozen=True, slots=True)
    class Nothing:
        __module__ = "tsc.cli.quick"

    return Point, Named, Nothing


@pytest.mark.parametrize("make", [DATACLASS, quickly(DATACLASS)], ids=["standard", "quick"])
def test_equality_hash_text_and_patterns(make: Any) -> None:
    point, named, nothing = classes(make)
    assert point(1, (2,), "a") == point(1, (2,), "b") != point(1, (3,), "a")
    assert point(1) != named(1) and named(1) != point(1)
    assert hash(point(1, (2,), "a")) == hash(point(1, (2,), "b"))
    assert len({named(1, name="a"), named(1, name="b"), named(1, name="a")}) == 2
    assert hash(named(1, name="a")) == hash(named(1, name="b"))
    assert repr(point(1)).endswith("Point(x=1, y=(), note='')") and repr(named(1)) == "a name"
    assert nothing() == nothing() and hash(nothing()) == hash(nothing())
    assert dataclasses.replace(point(1), x=2) == point(2) and dataclasses.is_dataclass(point)
    assert [one.name for one in dataclasses.fields(named)] == ["x", "y", "note", "name"]
    match named(5, (6,)):
        case point(x, y):
            assert (x, y) == (5, (6,))
        case _:
            pytest.fail("a class is no longer a pattern")
    assert not hasattr(point(1), "__dict__")


def test_only_frozen_classes_of_the_package_are_made_so() -> None:
    seen = []

    def standard(cls: type[Any], **options: Any) -> type[Any]:
        seen.append(options)
        return DATACLASS(cls, **options)

    make = quickly(standard)
    for module, options in (
        ("tsc.cli.quick", {"frozen": True, "slots": True}),
        ("tsc.cli.quick", {"frozen": True, "slots": True, "order": True}),
        ("json", {"frozen": True, "slots": True}),
        ("tsc.cli.quick", {}),
    ):
        make(type("Some", (), {"__module__": module, "__annotations__": {"x": "int"}}), **options)
    quick = {"slots": True, "eq": False, "repr": False}
    assert seen == [
        quick,
        {"frozen": True, "slots": True, "order": True},
        {"frozen": True, "slots": True},
        {},
    ]


def test_a_command_says_the_same_with_and_without() -> None:
    call = ["tsc", "check", "--format", "json", "specs/norm/rmsnorm.tsc.yaml"]
    code = f"import sys; sys.argv = {call}; from tsc.cli.app import {{0}}; {{0}}()"
    quick, slow = (
        subprocess.run([sys.executable, "-c", code.format(name)], capture_output=True, text=True)
        for name in ("run", "main")
    )
    assert quick.returncode == slow.returncode == 0
    assert quick.stdout == slow.stdout != ""
