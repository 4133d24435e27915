"""A generated kernel on the CPU: its own text, with each PTX instruction made a call of `host.cpp`."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.codegen.headers import COMPILER
from tsc.artifact.model import DTYPE_BITS
from tsc.expr import evaluate, parse

HOST = Path(__file__).with_name("host.cpp")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def _end(text: str, start: int) -> int:
    """The place of the bracket that closes the one at `start`; strings are passed over."""
    depth, i = 0, start
    while True:
        if text[i] == '"':
            match = _STRING.match(text, i)
            assert match is not None
            i = match.end()
            continue
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
        i += 1


def _parts(text: str, separator: str) -> list[str]:
    """The text between separators outside of strings and brackets."""
    found, start, i = [], 0, 0
    while i < len(text):
        if text[i] == '"':
            match = _STRING.match(text, i)
            assert match is not None
            i = match.end()
        elif text[i] == "(":
            i = _end(text, i) + 1
        else:
            if text[i] == separator:
                found.append(text[start:i])
                start = i + 1
            i += 1
    return [*found, text[start:]]


def _operands(text: str) -> list[tuple[str, str]]:
    found = []
    for operand in filter(None, (part.strip() for part in _parts(text, ","))):
        match = re.fullmatch(r'"([^"]*)"\s*\((.*)\)', operand, re.DOTALL)
        if match is not None:  # else coordinates of a macro
            found.append((match[1], match[2]))
    return found


def called(text: str) -> str:
    """CUDA whose `asm` statements are calls; what comes back compiles as C++."""
    text = text.replace("\\\n", " ")
    text = re.sub(r"extern __shared__ .* shared_memory\[\];", "unsigned char shared_memory[1];", text)
    found, done = [], 0
    for match in re.finditer(r"\basm\s*(?:volatile\s*)?\(", text):
        if match.start() < done:
            continue
        close = _end(text, match.end() - 1)
        template, *rest = _parts(text[match.end() : close], ":")
        outs = _operands(rest[0]) if rest else []
        ins = _operands(rest[1]) if len(rest) > 1 else []
        given = ", ".join(f"host::out({value}, {'false' if '+' in how else 'true'})" for how, value in outs)
        taken = ", ".join(f"host::in({value})" for _, value in ins)
        found.append(text[done : match.start()] + f"host::ptx({template}, {{{given}}}, {{{taken}}})")
        done = close + 1
    return "".join(found) + text[done:]


def _argument(
    one: dict[str, Any], manifest: dict[str, Any], values: dict[str, Any], lists: Mapping[str, Sequence[int]]
) -> str:
    """C++ of one argument of the kernel: maps have the bytes of their box, tensors some empty memory, but for
    those with `lists` of numbers.
    """
    match one["kind"]:
        case "tensor_map":
            box = manifest["tensor_maps"][one["map"]]
            dtypes = {
                param["name"]: param["dtype"] for param in (*manifest["params"], *manifest["workspace"])
            }
            elements = 1
            for extent in box["box"]:
                elements *= extent
            bits = max(8, DTYPE_BITS[dtypes[box["tensor"]]])  # narrower ones are counted in bytes
            return f"map_of({elements * bits // 8})"
        case "value":
            return str(int(evaluate(parse(one["expr"]), values)))
        case "scalar":
            return "1"
        case "stride":
            return "1024"
        case "pointer" if one["tensor"] in lists:
            return f"list_of({{{', '.join(map(str, lists[one['tensor']]))}}})"
        case _:
            return "empty()"


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run says: `done` with what was counted, or a fault."""

    text: str

    @property
    def counts(self) -> dict[str, int]:
        """Barriers, phases and arrivals by their names."""
        assert self.text.startswith("done: "), self.text
        return {name: int(number) for number, name in re.findall(r"(\d+) (\w+)", self.text)}


def run_on_host(
    cuda: str,
    manifest: dict[str, Any],
    values: Mapping[str, int],
    folder: Path,
    units: int = 3,
    lists: Mapping[str, Sequence[int]] | None = None,
) -> Ran:
    """Run the kernel's first cluster, which gets `units` tiles where a queue hands them out."""
    assert COMPILER is not None
    known = {"sms": 132, "launch.clusters": 1, **manifest["constants"], **values}
    arguments = ", ".join(_argument(one, manifest, known, lists or {}) for one in manifest["arguments"])
    x, y, z = manifest["cluster"]
    main = f"""
struct Anything {{
  template <class T> operator T*() const {{ return reinterpret_cast<T*>(memory); }}
  inline static unsigned long long memory[1 << 20];
}};
Anything empty() {{ return {{}}; }}
int* list_of(std::initializer_list<int> values) {{ return (new std::vector<int>(values))->data(); }}
TensorMap map_of(unsigned long long bytes) {{ TensorMap map{{}}; map.opaque[0] = bytes; return map; }}
int main() {{
  static const auto kernel = [] {{ {manifest["kernel"]}_kernel::{manifest["kernel"]}({arguments}); }};
  host::run({x * y * z}, {manifest["block"][0]}, {units}, kernel);
}}
"""
    source, program = folder / "kernel.cpp", folder / "kernel"
    source.write_text(f'#define __CUDACC__ 1\n#include "{HOST}"\n{called(cuda)}{main}', encoding="utf-8")
    flags = ["-std=c++20", "-O1", "-w", "-fpermissive"]
    built = subprocess.run(
        [COMPILER, *flags, str(source), "-o", str(program)], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr[:4000]
    ran = subprocess.run([str(program)], capture_output=True, text=True, timeout=120, check=False)
    return Ran(ran.stdout or f"exit code {ran.returncode}")
