"""Data flows one way: a module imports only from its own layer and those before it."""

from __future__ import annotations

import ast
import sys

import pytest

from tests.house.modules import imports, modules

LAYERS = (
    ("tsc.version", "tsc.resources"),
    ("tsc.source.span", "tsc.source.route"),
    ("tsc.diagnostics", "tsc.diagnostics.model"),
    ("tsc.source",),
    ("tsc.expr",),
    ("tsc.notation",),
    ("tsc.model",),
    ("tsc.ops",),
    ("tsc.tiles",),
    ("tsc.spec",),
    ("tsc.program",),
    ("tsc.emit",),
    ("tsc.prove",),
    ("tsc.rules",),
    ("tsc.diagnostics.render",),
    ("tsc.check",),
    ("tsc.artifact",),
    ("tsc.toolchain",),
    ("tsc.runtime",),
    ("tsc.verify",),
    ("tsc.bench",),
    ("tsc.tune",),
    ("tsc.report",),
    ("tsc.cli", "tsc.__main__"),
)
RANK = {prefix: rank for rank, layer in enumerate(LAYERS) for prefix in layer}

# What runs a kernel has to run where only cuda-python is installed; the launcher evaluates expressions.
ALONE = {
    "tsc.expr": ("tsc.expr",),
    "tsc.artifact": ("tsc.artifact", "tsc.expr"),
    "tsc.runtime": ("tsc.runtime", "tsc.artifact", "tsc.expr"),
    "tsc.notation": ("tsc.notation", "tsc.expr"),
    "tsc.verify": ("tsc.verify", "tsc.runtime", "tsc.artifact", "tsc.notation", "tsc.expr"),
    "tsc.bench": ("tsc.bench", "tsc.verify", "tsc.runtime", "tsc.artifact", "tsc.notation", "tsc.expr"),
    "tsc.tune": ("tsc.tune", "tsc.bench", "tsc.verify", "tsc.artifact"),
}
OUTSIDE = {
    "tsc.expr": (),
    "tsc.notation": (),
    "tsc.artifact": (),
    "tsc.runtime": ("cuda.bindings",),
    "tsc.verify": ("cuda.bindings",),
    "tsc.bench": (),
    "tsc.tune": (),
}
# What prepares such a run has all of tsc.
PREPARES = ("tsc.verify.planning", "tsc.tune.space", "tsc.tune.compile", "tsc.tune.search")


def within(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(f"{prefix}.")


def layer(name: str) -> int | None:
    """The rank of the longest prefix that has one; `tsc` itself, which looks names up on demand, has none."""
    return max(((len(p), RANK[p]) for p in RANK if within(name, p)), default=(0, None))[1]


def faults(name: str, source: str, known: set[str]) -> list[str]:
    """What is wrong with the imports of one module, a line each."""
    rank = layer(name)
    if rank is None:
        return [] if name == "tsc" else [f"{name} has no layer: give it one in LAYERS"]
    alone = next((prefix for prefix in ALONE if within(name, prefix) and name not in PREPARES), None)
    found = []
    for target, line in imports(ast.parse(source), known):
        if target.startswith("."):
            found.append(f"{name}:{line} imports `{target}`: write the whole name")
        elif not within(target, "tsc"):
            standard = target.partition(".")[0] in sys.stdlib_module_names
            if alone and not standard and not any(within(target, ok) for ok in OUTSIDE[alone]):
                found.append(f"{name}:{line} imports `{target}`, which `{alone}` has to do without")
        elif target == "tsc":
            found.append(f"{name}:{line} imports `tsc` itself: name the module that is meant")
        elif (other := layer(target)) is None or other > rank:
            found.append(f"{name}:{line} imports `{target}`, which comes after it")
        elif alone and not any(within(target, ok) for ok in ALONE[alone]):
            found.append(f"{name}:{line} imports `{target}`, which `{alone}` has to do without")
    return found


def test_every_import_goes_one_way() -> None:
    sources = {name: path.read_text(encoding="utf-8") for name, path in modules().items()}
    assert [fault for name, source in sources.items() for fault in faults(name, source, set(sources))] == []


@pytest.mark.parametrize(
    ("name", "source", "fault"),
    [
        ("tsc.spec.task", "from tsc.program import Program", "`tsc.program`, which comes after it"),
        ("tsc.spec.task", "def f():\n    import tsc.emit.plan", "`tsc.emit.plan`, which comes after it"),
        ("tsc.source.span", "from tsc.source import yaml", "`tsc.source.yaml`, which comes after it"),
        ("tsc.diagnostics.model", "import tsc.source.toml", "`tsc.source.toml`, which comes after it"),
        ("tsc.check", "from . import rules", "imports `.`: write the whole name"),
        ("tsc.runtime.load", "import numpy", "`numpy`, which `tsc.runtime` has to do without"),
        ("tsc.runtime.load", "from tsc.source.span import Span", "`tsc.source.span`, which `tsc.runtime`"),
        ("tsc.artifact.elf", "from cuda.bindings import nvrtc", "`cuda.bindings`, which `tsc.artifact`"),
        ("tsc.cli.check", "import tsc", "imports `tsc` itself"),
        ("tsc.novelty", "", "has no layer"),
    ],
)
def test_a_wrong_import_is_found(name: str, source: str, fault: str) -> None:
    (found,) = faults(name, source, {"tsc.source.yaml", "tsc.source.span", "tsc.emit.plan"})
    assert fault in found


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("tsc.source.yaml", "from tsc.source.span import Span\nfrom tsc.diagnostics.model import Finding"),
        ("tsc.runtime.load", "import ctypes\nfrom cuda.bindings import driver\nimport tsc.expr"),
        ("tsc.cli.build", "from tsc.toolchain.build import compile_source"),
    ],
)
def test_a_right_import_is_not(name: str, source: str) -> None:
    assert faults(name, source, set()) == []
