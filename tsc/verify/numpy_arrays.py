"""Arrays by NumPy on the host; a kernel works on a copy in device memory."""

from __future__ import annotations

import math
import weakref
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any, ClassVar, Final, Protocol

from tsc.artifact.manifest import DTYPE_BITS
from tsc.verify.arrays import E2M1, FLOATS, LARGEST, Arrays
from tsc.verify.layout import Layout

_TYPE_STRINGS: Final = {
    "f64": "<f8", "f32": "<f4", "tf32": "<f4", "f16": "<f2", "bf16": "<u2", "e4m3": "|u1", "e5m2": "|u1",
    "i8": "|i1", "i16": "<i2", "i32": "<i4", "i64": "<i8", "bool": "|b1",
    "u8": "|u1", "u16": "<u2", "u32": "<u4", "u64": "<u8", "e2m1": "|u1", "i4": "|u1", "u4": "|u1",
}  # fmt: skip
_NATIVE: Final = {"f64": "float64", "f32": "float32", "f16": "float16"}


class Memory(Protocol):
    """What is used of device memory."""

    name: str

    def allocate(self, size: int) -> int:
        """The address of so many bytes."""
        ...

    def release(self, address: int) -> None:
        """Free them."""
        ...

    def send(self, address: int, host: Any) -> None:
        """Copy to the device."""
        ...

    def fetch(self, address: int, host: Any) -> None:
        """Copy from the device."""
        ...

    def synchronize(self) -> None:
        """Wait until the device is idle."""
        ...


class Buffer:
    """Bytes on the host and their twin on the device; `ahead` says that the host has the newer ones."""

    def __init__(self, memory: Memory, host: Any) -> None:
        self.host = host
        self.address = memory.allocate(host.nbytes)
        self.ahead = True
        weakref.finalize(self, memory.release, self.address)


class Argument:
    """A tensor as a kernel takes it."""

    def __init__(self, buffer: Buffer, interface: dict[str, Any]) -> None:
        self.__cuda_array_interface__ = interface
        self.buffer = buffer


class NumpyArrays(Arrays):
    """NumPy with the memory of a device."""

    library: ClassVar[str] = "NumPy"

    def __init__(self, memory: Memory) -> None:
        self.xp = import_module("numpy")
        self.memory = memory
        self.device = memory.name
        self._buffers: weakref.WeakSet[Buffer] = weakref.WeakSet()
        self._random = self.xp.random.default_rng(0)

    def _bits_of(self, dtype: str) -> Any:
        width = max(8, DTYPE_BITS[dtype])
        return {8: self.xp.uint8, 16: self.xp.int16, 32: self.xp.int32, 64: self.xp.int64}[width]

    def raw(self, size: int) -> Buffer:
        """So many bytes of device memory."""
        buffer = Buffer(self.memory, self.xp.zeros(size, self.xp.uint8))
        self._buffers.add(buffer)
        return buffer

    def fill(self, raw: Buffer, byte: int) -> None:
        """Set every byte."""
        raw.host[:] = byte
        raw.ahead = True

    def elements(self, raw: Buffer, layout: Layout) -> Any:
        """The tensor's units in a buffer, as integers in stored order; a view."""
        return self._view(raw.host, layout)

    def _view(self, host: Any, layout: Layout) -> Any:
        units = host[layout.offset : layout.offset + (len(host) - layout.offset) // 8 * 8]
        units = units.view(self._bits_of(layout.dtype))
        strides = [pitch * layout.unit for pitch in layout.pitches]
        return self.xp.lib.stride_tricks.as_strided(units, layout.stored, strides)

    def store(self, raw: Buffer, layout: Layout, bits: Any) -> None:
        """Write units where the tensor lies."""
        self._put(raw.host, layout, bits)
        raw.ahead = True

    def _put(self, host: Any, layout: Layout, bits: Any) -> None:
        width = 8 * layout.unit
        if isinstance(bits, int) and width > 8 and bits >= 1 << (width - 1):
            bits -= 1 << width
        self._view(host, layout)[...] = bits

    def load(self, raw: Buffer, layout: Layout) -> Any:
        """A dense copy of the tensor's units, in stored order."""
        return self.elements(raw, layout).copy()

    def outside(self, raw: Buffer, layout: Layout, byte: int) -> int | None:
        """The first byte that is not `byte` among those that are not the tensor's own."""
        rest = raw.host.copy()
        self._put(rest, layout.owned, int(f"{byte:02x}" * layout.unit, 16))
        changed = rest != byte
        return self.first(changed) if bool(changed.any()) else None

    def checksum(self, raw: Buffer) -> int:
        """A number that tells a buffer from nearly every other one of its size."""
        return int(raw.host.view(self.xp.int64).sum())

    def argument(self, raw: Buffer, layout: Layout) -> Argument:
        """An object that says where the twin on the device lies."""
        if raw.ahead:
            self.memory.send(raw.address, raw.host)
            raw.ahead = False
        interface = {
            "shape": tuple(layout.stored[place] for place in layout.places),
            "strides": tuple(layout.pitches[place] * layout.unit for place in layout.places),
            "typestr": _TYPE_STRINGS[layout.dtype],
            "data": (raw.address + layout.offset, False),
            "version": 3,
        }
        return Argument(raw, interface)

    def synchronize(self) -> None:
        """Wait until the device is idle, and fetch what it has written."""
        self.memory.synchronize()
        for buffer in self._buffers:
            if not buffer.ahead:
                self.memory.fetch(buffer.address, buffer.host)

    def seed(self, seed: int) -> None:
        """Begin the random numbers anew."""
        self._random = self.xp.random.default_rng(seed)

    def normal(self, shape: tuple[int, ...]) -> Any:
        """Values of N(0, 1)."""
        return self._random.standard_normal(shape, dtype=self.xp.float32)

    def uniform(self, shape: tuple[int, ...], low: float, high: float) -> Any:
        """Values between two bounds."""
        return self._random.random(shape, dtype=self.xp.float32) * (high - low) + low

    def integers(self, shape: tuple[int, ...], low: int, high: int) -> Any:
        """Integers between two bounds, both included."""
        return self._random.integers(low, high, shape, endpoint=True)

    def listed(self, values: tuple[float, ...], shape: tuple[int, ...]) -> Any:
        """The values of a list, in float64."""
        return self.xp.array(values, dtype=self.xp.float64).reshape(shape)

    def from_host(self, values: Any, wide: bool) -> Any:
        """A NumPy array as values."""
        return self.xp.asarray(values).astype(self._float(wide))

    def to_host(self, values: Any) -> Any:
        """The values themselves."""
        return values

    def _float(self, wide: bool) -> Any:
        return self.xp.float64 if wide else self.xp.float32

    def encode(self, values: Any, dtype: str) -> Any:
        """Values of one dtype as bits, rounded."""
        np = self.xp
        values = np.asarray(values)
        if dtype in LARGEST:
            codes = self._nearest(values, dtype)
            return codes[..., ::2] | codes[..., 1::2] << 4 if dtype == "e2m1" else codes
        if dtype in _NATIVE:
            return values.astype(_NATIVE[dtype]).view(self._bits_of(dtype))
        if dtype in ("bf16", "tf32"):
            cut = 16 if dtype == "bf16" else 13
            bits = np.asarray(values, dtype=np.float32, order="C").view(np.uint32).astype(np.uint64)
            bits = (bits + (1 << cut - 1) - 1 + ((bits >> cut) & 1)) >> cut
            shifted = bits if dtype == "bf16" else bits << cut
            return shifted.astype(np.uint16 if dtype == "bf16" else np.uint32).view(self._bits_of(dtype))
        if dtype == "bool":
            return (values != 0).astype(np.uint8)
        codes = np.rint(values).astype(np.int64)
        if DTYPE_BITS[dtype] == 4:
            codes = (codes & 15).astype(np.uint8)
            return codes[..., ::2] | codes[..., 1::2] << 4
        return codes.astype(self._bits_of(dtype))

    def _table(self, dtype: str) -> Any:
        """The values of all codes of a small float."""
        if dtype == "e2m1":
            return self.xp.array(E2M1)
        mantissa, bias = (3, 7) if dtype == "e4m3" else (2, 15)
        return self.xp.array([_small_float(code, mantissa, bias) for code in range(256)])

    def _nearest(self, values: Any, dtype: str) -> Any:
        np = self.xp
        table = self._table(dtype)
        half = table[: len(table) // 2]
        half = half[half <= LARGEST[dtype]]  # without infinities and NaNs
        middles = (half[1:] + half[:-1]) / 2
        codes = np.searchsorted(middles, np.abs(values)).astype(np.uint8)
        return codes + np.signbit(values).astype(np.uint8) * np.uint8(len(table) // 2)

    def _single(self, bits: Any) -> Any:
        return self.xp.stack((bits & 15, bits >> 4), axis=-1).reshape(*bits.shape[:-1], -1)

    def decode(self, bits: Any, dtype: str, wide: bool) -> Any:
        """Bits as float64 (`wide`) or float32."""
        np = self.xp
        kind = self._float(wide)
        if dtype in LARGEST:
            return self._table(dtype).astype(kind)[self._single(bits) if dtype == "e2m1" else bits]
        if dtype == "bf16":
            return (bits.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(kind)
        if dtype in FLOATS:
            return bits.view(_NATIVE.get(dtype, "float32")).astype(kind)
        return self.whole(bits, dtype).astype(kind)

    def whole(self, bits: Any, dtype: str) -> Any:
        """Bits of an integer type as integers."""
        np = self.xp
        if DTYPE_BITS[dtype] == 4:
            codes = self._single(bits).astype(np.int8)
            return np.where(codes > 7, codes - 16, codes) if dtype == "i4" else codes
        return bits != 0 if dtype == "bool" else bits.view(np.dtype(_TYPE_STRINGS[dtype]))

    def permuted(self, values: Any, places: tuple[int, ...]) -> Any:
        """Values with their dimensions in another order, dense."""
        return self.xp.asarray(self.xp.transpose(values, places), order="C")

    def number(self, value: float, wide: bool) -> Any:
        """A number as values without dimensions."""
        return self.xp.array(value, dtype=self._float(wide))

    def call(self, function: str, values: Any) -> Any:
        """A function of the notation."""
        np = self.xp
        with self.quiet():
            match function:
                case "softmax":
                    raised = np.exp(values - values.max(axis=-1, keepdims=True, initial=-math.inf))
                    return raised / raised.sum(axis=-1, keepdims=True)
                case "gelu":
                    erf = np.frompyfunc(math.erf, 1, 1)(values * math.sqrt(0.5))
                    return values * (1 + np.asarray(erf, dtype=values.dtype)) / 2
                case "relu":
                    return np.maximum(values, 0)
                case "sigmoid":
                    return 1 / (1 + np.exp(-values))
                case "silu":
                    return values / (1 + np.exp(-values))
                case "tanh" | "exp":
                    return getattr(np, function)(values)
                case "rsqrt":
                    return 1 / np.sqrt(values)
                case "max" | "mean" | "sum":
                    return getattr(values, function)(axis=-1, keepdims=True)
        raise ValueError(function)

    def triangle(self, rows: int, columns: int) -> Any:
        """Which columns a row of a causal matrix sees; the last row sees all."""
        return self.xp.tril(self.xp.ones((rows, columns), dtype=bool), columns - rows)

    def first(self, mask: Any) -> int:
        """The place, in row-major order, of the first element that is true."""
        return int(mask.reshape(-1).argmax())

    def quiet(self) -> AbstractContextManager[object]:
        """Arithmetic in here gives infinities and NaNs without a warning."""
        quiet: AbstractContextManager[object] = self.xp.errstate(all="ignore")
        return quiet

    def norm(self, values: Any) -> float:
        """The Euclidean norm of all values, summed in float64."""
        flat = self.xp.asarray(values, dtype=self.xp.float64).reshape(-1)
        return float(math.sqrt(flat @ flat))


def _small_float(code: int, mantissa: int, bias: int) -> float:
    """The value of a code of e4m3 (no infinities, one NaN a sign) or e5m2 (as IEEE has it)."""
    sign = -1.0 if code & 0x80 else 1.0
    exponent = (code & 0x7F) >> mantissa
    fraction = code & ((1 << mantissa) - 1)
    largest = (0x7F >> mantissa) == exponent
    if largest and mantissa == 2:
        return math.nan if fraction else sign * math.inf
    if largest and fraction == 7:
        return math.nan
    scale = math.ldexp(1.0, max(exponent, 1) - bias - mantissa)
    return sign * scale * (fraction + (1 << mantissa if exponent else 0))
