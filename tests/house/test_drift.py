"""What exists twice says the same: pins, rules and their files, the schema and its model."""

from __future__ import annotations

import importlib
import json
import re
import tomllib

from tests.house.modules import ROOT, modules
from tsc.cli.output import to_json
from tsc.rules.registry import MODULES, RULES, documentation
from tsc.spec.schema import json_schema
from tsc.toolchain.diagnose import RULES as COMPILER_RULES

HEADINGS = ["What it does", "Why is this bad", "Example", "Use instead"]


def test_constraints_are_the_lock() -> None:
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    locked = {(p["name"], p["version"]) for p in lock["package"] if p["name"] != "tsc-cuda"}
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {tuple(line.partition(" ;")[0].split("==")) for line in lines}
    assert pinned == locked


def test_lock_has_every_dependency_and_public_addresses_alone() -> None:
    text = (ROOT / "uv.lock").read_text(encoding="utf-8")
    hosts = set(re.findall(r"https?://([^/\"]+)", text))
    assert hosts == {"pypi.org", "files.pythonhosted.org"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (own,) = (p for p in tomllib.loads(text)["package"] if p["name"] == "tsc-cuda")
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    recorded = {r["name"]: r.get("specifier") for r in own["metadata"]["requires-dist"]}
    parts = [re.fullmatch(r"([\w-]+)([^;]*)(?:;.*)?", entry) for entry in wanted]
    assert recorded == {part[1].lower(): part[2] for part in parts if part}


def test_every_rule_file_is_registered() -> None:
    files = {
        name
        for name, path in modules().items()
        if name.startswith("tsc.rules.") and "\nRULE = " in path.read_text(encoding="utf-8")
    }
    assert {module.__name__ for module in MODULES} == files


def test_every_rule_is_named_for_its_file() -> None:
    assert [
        m.RULE.name for m in MODULES if m.__name__.rpartition(".")[2] != m.RULE.name.replace("-", "_")
    ] == []


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in RULES}) == len({rule.name for rule in RULES}) == len(RULES)


def test_every_rule_explains_itself() -> None:
    wrong = {}
    for rule in RULES:
        found = [line.strip("#: ") for line in documentation(rule).splitlines()]
        if [line for line in found if line in HEADINGS] != HEADINGS:
            wrong[rule.code] = rule.name
    assert wrong == {}


def test_published_schema_is_the_model() -> None:
    (published,) = (ROOT / "schema").glob("*.json")
    assert published.read_text(encoding="utf-8") == to_json(json_schema())
    assert json.loads(to_json(json_schema())) == json_schema()


def test_public_names_exist() -> None:
    tsc = importlib.import_module("tsc")
    assert [name for name in tsc.__all__ if not hasattr(tsc, name)] == []


def test_rules_of_the_compiler_are_explained_like_all_others() -> None:
    assert [rule.name for rule in COMPILER_RULES if rule not in RULES] == []
