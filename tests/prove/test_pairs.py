"""Pairs of CTAs in the proof: what misses the other CTA is refuted, whichever side forgets it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.emit.kernels import document, program_of
from tests.emit.test_pairs import FUSED, PAIR, ROUNDED, SHARED
from tsc.program.model import Program
from tsc.prove.machine import System
from tsc.prove.proof import prove
from tsc.prove.translate import translate
from tsc.prove.translate.lines import Lines

SPECS = {"pair": PAIR, "shared": SHARED, "fused": FUSED, "rounded": ROUNDED}


def outcome(program: Program, edit: Callable[[System], System] = lambda system: system) -> str:
    found = translate(program)
    assert found.unmodelled == ()
    return prove(edit(found.system)).outcome


def recounted(name: str, by: int) -> Callable[[System], System]:
    """A system in which the barriers of a name count more or less."""

    def edit(system: System) -> System:
        barriers = tuple(
            replace(it, count=it.count + by) if it.name.startswith(name) else it for it in system.barriers
        )
        assert barriers != system.barriers
        return replace(system, barriers=barriers)

    return edit


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_it_is_proved(spec: str) -> None:
    assert outcome(program_of(document(spec))) == "proved"


@pytest.mark.parametrize("by", [4, -4, 1, -1])
def test_the_readers_of_both_count_at_the_leader(by: int) -> None:
    assert outcome(program_of(document(PAIR)), recounted("acc.empty of CTA 0", by)) == "refuted"


@pytest.mark.parametrize(
    ("name", "by"),
    [("ab.full of CTA 0", 1), ("ab.full of CTA 0", -1), ("ab.empty of CTA 1", 1), ("acc.full of CTA 1", 1)],
)
def test_the_other_barriers_have_their_count(name: str, by: int) -> None:
    assert outcome(program_of(document(PAIR)), recounted(name, by)) == "refuted"


@pytest.mark.parametrize("side", ["fulls", "empties"])
def test_the_tensor_cores_tell_both(side: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = getattr(Lines, side)

    def to_the_leader(self: Lines, task: Any, names: Any, copy: int, cta: int) -> tuple[int, ...]:
        found: tuple[int, ...] = told(self, task, names, copy, cta)
        return tuple(one for one in found if self.cluster.leads(one)) if task.name == "mma" else found

    monkeypatch.setattr(Lines, side, to_the_leader)
    assert outcome(program_of(document(PAIR))) == "refuted"


def test_threads_tell_the_leader(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Lines.empties

    def their_own(self: Lines, task: Any, names: Any, copy: int, cta: int) -> tuple[int, ...]:
        return (cta,) if task.name == "store" else told(self, task, names, copy, cta)

    monkeypatch.setattr(Lines, "empties", their_own)
    assert outcome(program_of(document(PAIR))) == "refuted"


@pytest.mark.parametrize("task", ["load", "store"])
def test_roles_in_the_wrong_cta(task: str) -> None:
    warps = {"load": 1, "store": 4}[task]
    text = PAIR.replace(f"  {task}:\n    warps: {warps}", f"  {task}:\n    warps: {warps}\n    ctas: leader")
    assert text != PAIR
    assert outcome(program_of(document(text))) == "refuted"


def test_products_in_both() -> None:
    text = PAIR.replace("  mma:\n    warps: 1", "  mma:\n    warps: 1\n    ctas: all")
    assert outcome(program_of(document(text))) == "refuted"
