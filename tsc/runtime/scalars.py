"""Numbers as the bytes that a kernel reads, refused where they would not be the number that was passed."""

from __future__ import annotations

import math
import operator
import struct

from tsc.runtime.errors import LaunchError
from tsc.runtime.tensors import is_tensor

_INTEGERS = {
    "i8": (-(1 << 7), (1 << 7) - 1),
    "u8": (0, (1 << 8) - 1),
    "i16": (-(1 << 15), (1 << 15) - 1),
    "u16": (0, (1 << 16) - 1),
    "i32": (-(1 << 31), (1 << 31) - 1),
    "u32": (0, (1 << 32) - 1),
    "i64": (-(1 << 63), (1 << 63) - 1),
    "u64": (0, (1 << 64) - 1),
    "i4": (-8, 7),
    "u4": (0, 15),
}

# The largest finite number of each type, and half a step beyond it, from where rounding gives infinity.
_FLOATS = {
    "f32": (float.fromhex("0x1.fffffep127"), float.fromhex("0x1.ffffffp127")),
    "tf32": (float.fromhex("0x1.fffffep127"), float.fromhex("0x1.ffffffp127")),
    "f16": (65504.0, 65520.0),
    "bf16": (float.fromhex("0x1.fep127"), float.fromhex("0x1.ffp127")),
    "f64": (math.inf, math.inf),
}

_FORMATS = {
    "i32": "<i",
    "u32": "<I",
    "i64": "<q",
    "u64": "<Q",
    "f32": "<f",
    "f64": "<d",
    "f16": "<e",
    "bool": "<?",
}

Number = int | float | bool


def is_integer(dtype: str) -> bool:
    """Whether expressions may use a scalar of this type."""
    return dtype in _INTEGERS or dtype == "bool"


def size(kind: str) -> int:
    """Bytes of an argument of this type."""
    return 2 if kind == "bf16" else struct.calcsize(_FORMATS[kind])


def number(name: str, dtype: str, value: object) -> Number:
    """The Python number that was passed for scalar `name`; raises LaunchError if `dtype` cannot hold it."""
    if value is None:
        raise LaunchError(f"`{name}` is None; pass a number that fits {dtype}")
    if is_tensor(value):
        raise LaunchError(
            f"`{name}` is a scalar of type {dtype} and gets a tensor; pass a number, such as `x.item()`"
        )
    if dtype == "bool":
        return _boolean(name, value)
    if dtype in _INTEGERS:
        return _integer(name, dtype, value)
    return _float(name, dtype, value)


def _is_boolean(value: object) -> bool:
    # NumPy's booleans are no subclass of bool; their class is `bool` or `bool_`, as the version has it.
    return type(value).__name__ in ("bool", "bool_")


def _boolean(name: str, value: object) -> bool:
    if _is_boolean(value):
        return bool(value)
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise LaunchError(f"`{name}` is {_shown(value)} and the kernel takes a bool; pass `True` or `False`")


def _integer(name: str, dtype: str, value: object) -> int:
    low, high = _INTEGERS[dtype]
    if _is_boolean(value):
        raise LaunchError(f"`{name}` is {_shown(value)} and the kernel takes {dtype}; pass an integer")
    try:
        whole = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise LaunchError(
            f"`{name}` is {_shown(value)} and the kernel takes {dtype}; pass an integer"
        ) from None
    if not low <= whole <= high:
        # Python refuses to print an integer of thousands of digits.
        given = f"{whole:,}" if whole.bit_length() <= 128 else f"an integer of {whole.bit_length():,} bits"
        raise LaunchError(f"`{name}` is {given}, and {dtype} holds {low:,} to {high:,}")
    return whole


def _float(name: str, dtype: str, value: object) -> float:
    if _is_boolean(value) or isinstance(value, (str, bytes)):
        raise LaunchError(f"`{name}` is {_shown(value)} and the kernel takes {dtype}; pass a number")
    try:
        real = float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise LaunchError(f"`{name}` is larger than {dtype} holds") from None
    except (TypeError, ValueError):
        raise LaunchError(
            f"`{name}` is {_shown(value)} and the kernel takes {dtype}; pass a number"
        ) from None
    largest, beyond = _FLOATS.get(dtype, _FLOATS["f32"])
    if math.isfinite(real) and abs(real) >= beyond:
        raise LaunchError(f"`{name}` is {real:g}, and {dtype} holds up to {largest:g}")
    return real


def _shown(value: object) -> str:
    """A value as a sentence shows it: its text if that is short, else its type."""
    try:
        text = repr(value)
    except Exception:
        text = ""
    return f"`{text}`" if text and len(text) <= 40 and "\n" not in text else f"a `{type(value).__name__}`"


def pack(kind: str, value: Number) -> bytes:
    """The bytes of `value` as an argument. Raises struct.error or OverflowError if `kind` cannot hold it."""
    if kind == "bf16":
        return _bf16(float(value))
    if kind in _INTEGERS:
        value = int(value)
    elif kind == "bool":
        value = bool(value)
    return struct.pack(_FORMATS[kind], value)


def packed_or_refused(what: str, kind: str, value: Number) -> bytes:
    """`pack`, with a LaunchError about `what` where `kind` cannot hold the value."""
    try:
        return pack(kind, value)
    except (struct.error, OverflowError, ValueError):
        raise LaunchError(f"{what} is {value:,}, and the kernel takes it as {kind}") from None


def _bf16(value: float) -> bytes:
    if math.isnan(value):
        return b"\xc0\x7f"
    if math.isinf(value):
        return b"\x80\x7f" if value > 0 else b"\x80\xff"
    # From f64 in one rounding: through f32 a tie could be made where there was none.
    bits = int.from_bytes(struct.pack(">d", value), "big")
    sign, exponent, fraction = bits >> 63, bits >> 52 & 0x7FF, bits & ((1 << 52) - 1)
    scale = exponent - 1023 + 127
    if exponent == 0 or scale < -8:
        return (sign << 15).to_bytes(2, "little")
    mantissa = fraction | 1 << 52
    drop = 45 if scale > 0 else 46 - scale
    kept, rest, half = mantissa >> drop, mantissa & ((1 << drop) - 1), 1 << drop - 1
    kept += rest > half or (rest == half and kept & 1)
    # A carry out of the mantissa raises the exponent by itself, and a subnormal becomes normal likewise.
    return ((sign << 15) | ((kept + ((scale - 1) << 7)) if scale > 0 else kept | sign << 15)).to_bytes(
        2, "little"
    )
