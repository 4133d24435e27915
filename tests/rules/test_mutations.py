"""Whatever somebody does to a spec, the check ends soon, and with words."""

from __future__ import annotations

import json
import random
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.harness import ROOT
from tests.rules.mutate import mutate
from tsc.check import Report, check_reading
from tsc.source import parse
from tsc.spec.overrides import Overrides

# Seconds of this process, on a machine that does other things too; a right spec takes a hundredth of it.
MOST = 3.0


def _documents() -> list[dict[str, Any]]:
    found = []
    for folder in (ROOT / "specs", ROOT / "tests" / "rules"):
        for path in sorted(folder.rglob("*.tsc.yaml")):
            document = parse(path.read_text("utf-8"), path.name, "yaml").document
            if document is not None and isinstance(document.data, dict):
                found.append(document.data)
    return found


DOCUMENTS = _documents()


def checked(text: str) -> Report:
    begin = time.process_time()
    report = check_reading(parse(text, "damaged.tsc.yaml", "yaml"), Overrides())
    assert time.process_time() - begin < MOST
    for diagnostic in report.found:
        assert diagnostic.message and not diagnostic.message.endswith(".")
        assert 0 <= diagnostic.span.start.offset <= diagnostic.span.end.offset <= len(text)
    return report


@settings(max_examples=400)
@given(st.integers(0, 2**32))
def test_a_damaged_spec_ends_in_words(seed: int) -> None:
    rng = random.Random(seed)
    checked(json.dumps(mutate(rng.choice(DOCUMENTS), rng)))


HEAD = "tsc: 1\nkernel: k\ntarget: sm_90a\nlaunch: {grid: [1]}\nparams: {x: {dtype: f32, shape: [n]}}\n"
TASK = "tasks: {t: {warps: 1, schedule: %s}}\n"
STEPS = "[{acquire: xs}, {bulk_load: x, to: xs}, {commit: xs}, {wait: xs}, {release: xs}]"
RING = "resources: {xs: {kind: smem, stages: 2, dtype: f32, shape: [%s]}}\n"
DOWN = "[{for: 0 - 9223372036854775807, step: -1, as: i, body: @}]"
COPIES = "[{repeat: 3, as: i, body: [{repeat: 1000, as: j, body: @}, {repeat: 5000, as: j, body: @}]}]"


def lets(count: int, first: str, text: str) -> str:
    lines = [f"  a0: {first}", *(f"  a{i}: {text.format(i - 1)}" for i in range(1, count))]
    return "let:\n" + "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        HEAD + lets(5000, "4", "a{0} + 1") + RING % "a4999" + TASK % STEPS,
        HEAD + lets(60, "n", "a{0} + a{0}") + RING % "64" + TASK % STEPS,
        HEAD + lets(3000, "a2999", "a{0}") + RING % "64" + TASK % STEPS,
        HEAD + RING % "9223372036854775807" + TASK % STEPS,
        HEAD + RING % "64" + TASK % "[{domain_loop: 9223372036854775807, body: @}]".replace("@", STEPS),
        HEAD + RING % "64" + TASK % DOWN.replace("@", STEPS),
        HEAD + RING % "64" + TASK % COPIES.replace("@", STEPS),
        HEAD.replace("sm_90a", "sm_100a") + RING % "64" + TASK.replace("1,", "4611686018427387904,") % STEPS,
        HEAD + RING % "64" + TASK.replace("1,", "1, replicas: 1000000000, registers: 24,") % STEPS,
        HEAD + RING % "64" + TASK.replace("1,", "1000000000, registers: 24, first_warp: 1000000000,") % STEPS,
    ],
    ids=["deep", "explosive", "circle", "extent", "long", "down", "copies", "warps", "replicas", "far"],
)
def test_hostile_numbers_end_in_words(text: str) -> None:
    assert checked(text).diagnostics


@pytest.mark.parametrize("size", [2**20, 2**40])
def test_a_cluster_of_any_size_ends_in_words(size: int) -> None:
    pairs = (ROOT / "specs" / "blackwell" / "gemm_2cta.tsc.yaml").read_text("utf-8")
    found = re.sub(r"cluster: {m: 2", f"cluster: {{m: {size}", pairs)
    assert found != pairs
    assert checked(found).diagnostics


def test_keys_of_many_names_end_soon() -> None:
    names = [f"n{i}" for i in range(12)]
    params = "".join(f", p{i}: {{dtype: f32, shape: [{name}]}}" for i, name in enumerate(names))
    loops = [f"{{domain_loop: {' + '.join(names)} + {i}, key: k, body: {STEPS}}}" for i in range(2)]
    head = HEAD.replace("[n]}}", "[n]}" + params + "}")
    checked(head + RING % "64" + TASK % f"[{', '.join(loops)}]")


@pytest.mark.parametrize("guards", [4, 12, 40])
def test_many_conditions_end_soon(guards: int) -> None:
    steps = [
        f"{{when: 'n % {i} == {i // 2}', then: [{{acquire: xs}}], else: [{{wait: xs}}]}}"
        for i in range(3, 3 + guards)
    ]
    loop = f"[{{for: n, as: i, body: [{', '.join(steps)}]}}]"
    checked(HEAD + RING % "64" + TASK % loop)


def test_specs_are_there() -> None:
    assert len(DOCUMENTS) > 200
    assert Path(ROOT / "specs").is_dir()
