"""Machine code as text: the instructions of a cubin, all of them and those of a loop."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

_INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+((?:@!?U?P\d\s+)?)(\S+)([^;]*);")
_LABEL = re.compile(r"^(\.L_x_\d+):")
_TARGET = re.compile(r"\((\.L_x_\d+)\)")


def disassembled(cubin: bytes, folder: Path) -> str:
    """The machine code as text, where the disassembler is installed."""
    found = shutil.which("nvdisasm")
    package = find_spec("nvidia")
    for place in (package.submodule_search_locations or ()) if package is not None else ():
        found = found or next(map(str, Path(place).glob("*/bin/nvdisasm")), None)
    if found is None:
        pytest.skip("nvdisasm is not installed (pip install nvidia-cuda-nvdisasm)")
    path = folder / "kernel.cubin"
    path.write_bytes(cubin)
    return subprocess.run([found, "-c", str(path)], capture_output=True, text=True, check=True).stdout


def words(text: str) -> list[str]:
    """The instructions in order, without operands and without what follows the first dot."""
    return [match.group(2).partition(".")[0] for match in map(_INSTRUCTION.match, text.splitlines()) if match]


def loop_with(word: str, text: str) -> list[str]:
    """The instructions of the smallest loop with one: between a label and a branch back to it."""
    lines = text.splitlines()
    labels = {match.group(1): i for i, line in enumerate(lines) if (match := _LABEL.match(line))}
    loops = []
    for i, line in enumerate(lines):
        target = _TARGET.search(line)
        if target is None or "BRA" not in line or labels.get(target.group(1), i) >= i:
            continue
        body = words("\n".join(lines[labels[target.group(1)] : i]))
        if word in body:
            loops.append(body)
    assert loops, f"no loop has {word}"
    return min(loops, key=len)
