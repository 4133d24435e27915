"""Element types: the names of specs, how frameworks spell them, and which of them a parameter takes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dtype:
    """An element type of a spec: its width in memory and its name among the types of tensor maps."""

    name: str
    bits: int
    map_type: str


DTYPES = {
    dtype.name: dtype
    for dtype in (
        Dtype("f64", 64, "FLOAT64"),
        Dtype("f32", 32, "FLOAT32"),
        Dtype("tf32", 32, "TFLOAT32"),
        Dtype("f16", 16, "FLOAT16"),
        Dtype("bf16", 16, "BFLOAT16"),
        Dtype("e4m3", 8, "UINT8"),
        Dtype("e5m2", 8, "UINT8"),
        Dtype("i8", 8, "UINT8"),
        Dtype("u8", 8, "UINT8"),
        Dtype("bool", 8, "UINT8"),
        Dtype("i16", 16, "UINT16"),
        Dtype("u16", 16, "UINT16"),
        Dtype("i32", 32, "INT32"),
        Dtype("u32", 32, "UINT32"),
        Dtype("i64", 64, "INT64"),
        Dtype("u64", 64, "UINT64"),
        # Two elements a byte in global and in shared memory; the ALIGN16B twin pads shared memory.
        Dtype("e2m1", 4, "UINT8"),
        Dtype("i4", 4, "UINT8"),
        Dtype("u4", 4, "UINT8"),
    )
}

_FRAMEWORKS = {
    "float64": "f64",
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "float8_e4m3fn": "e4m3",
    "float8_e5m2": "e5m2",
    "float4_e2m1fn_x2": "e2m1x2",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
}

_TYPE_STRINGS = {
    "f8": "f64",
    "f4": "f32",
    "f2": "f16",
    "i1": "i8",
    "i2": "i16",
    "i4": "i32",
    "i8": "i64",
    "u1": "u8",
    "u2": "u16",
    "u4": "u32",
    "u8": "u64",
    "b1": "bool",
}

_DLPACK = {
    (0, 4): "i4",
    (0, 8): "i8",
    (0, 16): "i16",
    (0, 32): "i32",
    (0, 64): "i64",
    (1, 4): "u4",
    (1, 8): "u8",
    (1, 16): "u16",
    (1, 32): "u32",
    (1, 64): "u64",
    (2, 16): "f16",
    (2, 32): "f32",
    (2, 64): "f64",
    (4, 16): "bf16",
    (6, 8): "bool",
    (10, 8): "e4m3",
    (12, 8): "e5m2",
    (17, 4): "e2m1",
}

# Frameworks that lack a type hold its bits in unsigned integers; tf32 is f32 by another use of its bits.
_STAND_INS = {
    "tf32": ("f32",),
    "bf16": ("u16",),
    "e4m3": ("u8",),
    "e5m2": ("u8",),
    "e2m1": ("e2m1x2", "u8"),
    "i4": ("i4x2", "u8", "i8"),
    "u4": ("u4x2", "u8"),
}

_BYTES_OF_PAIRS = frozenset(("e2m1x2", "i4x2", "u4x2", "u8", "i8"))


def spelled(token: Hashable) -> str:
    """The name of a framework's dtype (`torch.bfloat16`, a NumPy dtype), or of one named already."""
    text = getattr(token, "name", None)
    text = text if isinstance(text, str) else str(token).removeprefix("torch.")
    return _FRAMEWORKS.get(text, text)


def from_type_string(text: str) -> str:
    """The name of a type string such as `<f4`; an unknown one stands for itself."""
    return text if text.startswith(">") else _TYPE_STRINGS.get(text[1:], text)


def from_dlpack(code: int, bits: int, lanes: int) -> str:
    """The name of a DLPack type; one that specs do not know is described by its numbers."""
    name = _DLPACK.get((code, bits))
    if name is None or lanes not in (1, 2) or (lanes == 2 and bits != 4):
        return f"DLPack type {code} of {bits} bits" + (f" and {lanes} lanes" if lanes != 1 else "")
    return f"{name}x2" if lanes == 2 else name


def elements_each(declared: Dtype, given: str) -> int:
    """How many elements an item of the tensor holds: 2 where a byte holds two, 0 if the types do not fit."""
    if given == declared.name:
        return 1
    if given not in _STAND_INS.get(declared.name, ()):
        return 0
    return 2 if declared.bits == 4 and given in _BYTES_OF_PAIRS else 1


def described(declared: Dtype) -> str:
    """What a parameter takes, as a sentence says it."""
    return f"{declared.name}, two elements a byte" if declared.bits == 4 else declared.name
