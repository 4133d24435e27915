"""Every shipped spec passes the check without a finding and is proved, under each policy of its queue."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsc.check import Report, check_file
from tsc.emit import emit
from tsc.program.resolve import resolve
from tsc.source import parse
from tsc.spec.load import to_spec
from tsc.spec.overrides import parse_overrides
from tsc.toolchain.build import compile_source

ROOT = Path(__file__).resolve().parents[2] / "specs"
SPECS = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.tsc.yaml"))
STATIC = [spec for spec in SPECS if "policy: static" in (ROOT / spec).read_text(encoding="utf-8")]


def report(spec: str, *settings: str) -> Report:
    return check_file(str(ROOT / spec), overrides=parse_overrides((), settings))


@pytest.mark.parametrize("spec", SPECS)
def test_it_is_proved(spec: str) -> None:
    found = report(spec)
    assert [one.message for one in found.found] == []
    assert found.judgement is not None
    assert found.judgement.outcome == "proved"


@pytest.mark.parametrize("policy", ["atomic", "grid"])
@pytest.mark.parametrize("spec", STATIC)
def test_it_is_proved_whoever_hands_out_the_tiles(spec: str, policy: str) -> None:
    found = report(spec, f"resources.tiles.policy={policy}")
    assert {one.name for one in found.found} <= {"idle-cta-count"}
    assert found.judgement is not None
    assert found.judgement.outcome == "proved"


def test_the_queue_of_the_hardware_is_in_the_instructions() -> None:
    text = (ROOT / "blackwell/copy_clc.tsc.yaml").read_text(encoding="utf-8")
    reading = parse(text, "copy_clc.tsc.yaml", "yaml")
    assert reading.document is not None
    spec, _ = to_spec(reading.document)
    assert spec is not None
    built = compile_source(emit(resolve(spec, "copy_clc.tsc.yaml"), document=reading.document), {}, "sm_100a")
    assert "clusterlaunchcontrol.try_cancel" in built.ptx
    assert "multicast::cluster" in built.ptx
