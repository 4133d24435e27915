"""The manifest in a cubin: read from the file, written as JSON, and as the C++ that puts it there."""

from __future__ import annotations

import dataclasses
import json
from typing import Final

from tsc.artifact.decode import decode_manifest
from tsc.artifact.elf import Cubin, read_cubin
from tsc.artifact.error import ArtifactError
from tsc.artifact.fields import damaged
from tsc.artifact.model import (
    ARGUMENT_TYPES,
    DTYPE_BITS,
    MANIFEST_VERSION,
    Argument,
    Assertion,
    Barrier,
    Constant,
    CounterArgument,
    Dim,
    Manifest,
    PointerArgument,
    Queue,
    Region,
    Scalar,
    ScalarArgument,
    StrideArgument,
    Tensor,
    TensorMap,
    TensorMapArgument,
    ValueArgument,
    Workspace,
)

__all__ = [
    "ARGUMENT_TYPES",
    "DTYPE_BITS",
    "MANIFEST_VERSION",
    "SYMBOL",
    "Argument",
    "ArtifactError",
    "Assertion",
    "Barrier",
    "Constant",
    "CounterArgument",
    "Dim",
    "Manifest",
    "PointerArgument",
    "Queue",
    "Region",
    "Scalar",
    "ScalarArgument",
    "StrideArgument",
    "Tensor",
    "TensorMap",
    "TensorMapArgument",
    "ValueArgument",
    "Workspace",
    "decode_manifest",
    "manifest_of",
    "manifest_text",
    "read_manifest",
    "to_c_array",
    "to_json",
]

SYMBOL: Final = "tsc_manifest"
"""The variable in the cubin that holds the manifest."""

_LARGEST = 4 << 20
_LITERAL_WIDTH = 100

_KIND: Final[dict[type, str]] = {
    Tensor: "tensor",
    Scalar: "scalar",
    TensorMapArgument: "tensor_map",
    PointerArgument: "pointer",
    StrideArgument: "stride",
    ValueArgument: "value",
    ScalarArgument: "scalar",
    CounterArgument: "counter",
}


def read_manifest(data: bytes) -> Manifest:
    """The manifest of a cubin, given the file's bytes.

    Raises ArtifactError if this is no cubin, one of another tool or of a newer tsc, or a damaged one.
    """
    return manifest_of(read_cubin(data))


def manifest_of(cubin: Cubin) -> Manifest:
    """The manifest of a cubin, held against the code beside it."""
    manifest = decode_manifest(manifest_text(cubin))
    if manifest.kernel not in cubin.kernels:
        damaged(f"`kernel` is `{manifest.kernel}`, and the cubin has {_listed(cubin.kernels)}")
    # A file without the assembler's note does not tell the suffix: `sm_90` stands for `sm_90a` as well.
    if manifest.arch != cubin.arch and manifest.arch.rstrip("af") != cubin.arch:
        damaged(f"`arch` is `{manifest.arch}`, and the code is for `{cubin.arch}`")
    return manifest


def manifest_text(cubin: Cubin) -> bytes:
    """The manifest's JSON text as it stands in the cubin."""
    text = cubin.bytes_of(SYMBOL)
    if text is None:
        raise ArtifactError(f"the cubin was not built by tsc: it has no manifest (symbol `{SYMBOL}`)")
    if len(text) > _LARGEST:
        damaged(f"it has {len(text):,} B, more than {_LARGEST:,} B")
    return text.rstrip(b"\0")


def _listed(kernels: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{name}`" for name in kernels[:3])
    return f"{shown or 'no kernel'}{' and others' if len(kernels) > 3 else ''}"


def to_json(manifest: Manifest) -> str:
    """One line of ASCII, keys in their declared order: equal manifests give equal text."""
    return json.dumps(_plain(manifest), ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value):
        table = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        kind = _KIND.get(type(value))
        return table if kind is None else {"kind": kind, **table}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return value


def to_c_array(text: str, symbol: str = SYMBOL) -> str:
    """The C++ definition that puts a text into a cubin, where it stays although nothing refers to it.

    The literal is cut into lines. What C++ would read as an escape or a trigraph, and what is not ASCII, is
    escaped.
    """
    lines: list[str] = []
    line = ""
    for byte in text.encode("utf-8"):
        escaped = _escape(byte)
        if len(line) + len(escaped) > _LITERAL_WIDTH:
            lines.append(line)
            line = ""
        line += escaped
    lines.append(line)
    body = "\n".join(f'    "{one}"' for one in lines)
    return f'extern "C" __device__ const char {symbol}[] =\n{body};\n'


def _escape(byte: int) -> str:
    character = chr(byte)
    if character in '"\\?':
        return "\\" + character
    # Three octal digits end by themselves; a hexadecimal escape would swallow the digits after it.
    return character if 0x20 <= byte < 0x7F else f"\\{byte:03o}"
