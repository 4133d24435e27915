"""The proof with a part of it broken on purpose: its modules once more, with some text replaced."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

KEPT = ("tsc.prove.machine", "tsc.prove.verdict")
"""Modules that both proofs share, so that they speak of the same systems."""

Change = tuple[str, str, str]
"""A module of `tsc.prove`, a text in it, and what stands there instead."""


class _Loader(SourceFileLoader):
    changes: Sequence[Change] = ()

    def get_code(self, fullname: str) -> CodeType:
        source = self.get_source(fullname)
        assert source is not None
        for module, old, new in self.changes:
            if fullname == f"tsc.prove.{module}":
                assert old in source, f"`{old}` is no longer in {fullname}"
                source = source.replace(old, new)
        return compile(source, self.path, "exec")


class _Finder(MetaPathFinder):
    def __init__(self, changes: Sequence[Change]) -> None:
        self.changes = changes
        self.met: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith("tsc.prove."):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            loader = _Loader(spec.loader.name, spec.loader.path)
            loader.changes = self.changes
            spec.loader = loader
            self.met.add(fullname.removeprefix("tsc.prove."))
        return spec


@contextmanager
def _apart() -> Iterator[None]:
    """Let modules of the proof be imported anew, and forget the new ones afterwards."""
    ours = {name: module for name, module in sys.modules.items() if name.startswith("tsc.prove.")}
    package = sys.modules["tsc.prove"]
    names = dict(vars(package))
    for name in ours:
        if name not in KEPT:
            del sys.modules[name]
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.startswith("tsc.prove.")]:
            del sys.modules[name]
        sys.modules.update(ours)
        vars(package).clear()
        vars(package).update(names)


def broken(*changes: Change) -> ModuleType:
    """Return `tsc.prove.proof` as it would be with these changes; each has to fit somewhere."""
    for name in KEPT:
        importlib.import_module(name)
    finder = _Finder(changes)
    with _apart():
        sys.meta_path.insert(0, finder)
        try:
            proof = importlib.import_module("tsc.prove.proof")
        finally:
            sys.meta_path.remove(finder)
    unknown = {module for module, _, _ in changes} - finder.met
    assert not unknown, f"the proof has no module {sorted(unknown)}"
    return proof
