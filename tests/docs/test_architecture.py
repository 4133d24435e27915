"""docs/architecture.md: its layers are the house's, its rule finds, its operation is generated."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

from tests.docs.pages import ROOT, blocks, checked, table
from tests.house.test_layers import LAYERS
from tsc.rules.registry import by_name

PAGE = "architecture.md"

SPEC = """\
tsc: 1
kernel: k
target: sm_90a
params: {x: {dtype: f32, shape: [n]}}
launch: {grid: [1]}
resources:
  v: {kind: registers, dtype: f32, per_thread: 4}
  ring: {kind: smem, stages: STAGES, dtype: f32, shape: [64]}
tasks:
  math:
    warps: 1
    schedule:
      - wait: ring
      - {load: v, from: ring, at: [0]}
      - release: ring
  load:
    warps: 1
    schedule:
      - acquire: ring
      - {tma_load: x, to: ring}
      - commit: ring
"""

# A registry with the page's operation in it, from the start: the grammar is made from it.
SCRIPT = """\
import sys
from tsc.ops import registry
from types import ModuleType
module = ModuleType("negate")
sys.modules["negate"] = module
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), module.__dict__)
registry.OPERATIONS += (module.OP,)
registry.BY_VERB["negate"] = module.OP
from tsc.cli import main
sys.argv = ["tsc", "emit", "--no-headers", sys.argv[2]]
main()
"""


def only(info: str) -> str:
    (block,) = blocks(PAGE, info)
    return block.text


def test_the_layers_are_those_that_a_test_holds() -> None:
    shown = [row[0].strip("`") for row in table(PAGE, "layers").rows]
    ranks = [prefix for layer in LAYERS for prefix in layer]
    parts = {".".join(prefix.split(".")[:2]) for prefix in ranks}
    assert sorted(shown) == sorted(parts - {"tsc.version", "tsc.resources", "tsc.__main__"})
    # Parts of the first two come before and after one another; the rest is in the order of the layers.
    assert shown[2:] == [prefix for prefix in ranks if prefix in shown[2:]]


def test_every_package_has_a_row() -> None:
    there = {f"tsc.{path.stem}" for path in (ROOT / "tsc").iterdir() if path.suffix == ".py" or path.is_dir()}
    named = {row[0].strip("`") for row in table(PAGE, "layers").rows}
    assert {name for name in there - named if not name.rpartition(".")[2].startswith("_")} <= {
        "tsc.version",
        "tsc.resources",
        "tsc.py",
    }


def test_the_rule_finds_what_it_is_for() -> None:
    module = ModuleType("single_stage_ring")
    exec(compile(only("python rule"), PAGE, "exec"), module.__dict__)
    found = [list(module.check(checked(SPEC.replace("STAGES", n), "yaml").program)) for n in ("1", "2")]
    assert [[it.message for it in each] for each in found] == [
        ["`ring` has 1 stage, so that no load overlaps its reader"],
        [],
    ]
    assert by_name(module.RULE.code) is None and by_name(module.RULE.name) is None


def test_the_operation_is_generated(tmp_path: Path) -> None:
    (tmp_path / "negate.py").write_text(only("python operation"), encoding="utf-8")
    spec = SPEC.replace("STAGES", "2").replace("- release", "- negate: v\n      - release", 1)
    (tmp_path / "k.tsc.yaml").write_text(spec, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "negate.py"), str(tmp_path / "k.tsc.yaml")],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "for (int i = 0; i < 4; ++i) v[i] = -v[i];" in done.stdout
