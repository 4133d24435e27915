"""Arrays by PyTorch: made, evaluated and compared on the GPU."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar, Final

from tsc.artifact.manifest import DTYPE_BITS
from tsc.verify.arrays import E2M1, LARGEST, Arrays
from tsc.verify.layout import Layout

_FLOATS: Final = {
    "f64": "float64",
    "f32": "float32",
    "tf32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "e4m3": "float8_e4m3fn",
    "e5m2": "float8_e5m2",
}
_INTEGERS: Final = {
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "bool": "bool",
}  # fmt: skip
_TYPES: Final = {**_FLOATS, **_INTEGERS, "e2m1": "uint8", "i4": "uint8", "u4": "uint8"}
_CHUNK: Final = 1 << 26


class TorchArrays(Arrays):
    """PyTorch on one device."""

    library: ClassVar[str] = "PyTorch"

    def __init__(self, place: str = "cuda") -> None:
        self.xp = torch = import_module("torch")
        torch.set_float32_matmul_precision("highest")  # products of float32 in float32, not in TF32
        self.place = torch.device(place)
        on_gpu = self.place.type == "cuda"
        self.device = torch.cuda.get_device_name(self.place) if on_gpu else "the CPU"
        self._random = torch.Generator(device=self.place)

    def _bits_of(self, layout_or_dtype: str) -> Any:
        torch = self.xp
        width = max(8, DTYPE_BITS[layout_or_dtype])
        return {8: torch.uint8, 16: torch.int16, 32: torch.int32, 64: torch.int64}[width]

    def raw(self, size: int) -> Any:
        """So many bytes of device memory."""
        return self.xp.empty(size, dtype=self.xp.uint8, device=self.place)

    def fill(self, raw: Any, byte: int) -> None:
        """Set every byte."""
        raw.fill_(byte)

    def elements(self, raw: Any, layout: Layout) -> Any:
        """The tensor's units in a buffer, as integers in stored order; a view."""
        units = raw.view(self._bits_of(layout.dtype))
        return units.as_strided(layout.stored, layout.pitches, layout.offset // layout.unit)

    def store(self, raw: Any, layout: Layout, bits: Any) -> None:
        """Write units where the tensor lies."""
        view = self.elements(raw, layout)
        if isinstance(bits, int):
            width = 8 * layout.unit
            view.fill_(bits if width == 8 or bits < 1 << (width - 1) else bits - (1 << width))
        else:
            view.copy_(bits)

    def load(self, raw: Any, layout: Layout) -> Any:
        """A dense copy of the tensor's units, in stored order."""
        return self.elements(raw, layout).clone(memory_format=self.xp.contiguous_format)

    def outside(self, raw: Any, layout: Layout, byte: int) -> int | None:
        """The first byte that is not `byte` among those that are not the tensor's own."""
        rest = raw.clone()
        self.store(rest, layout.owned, int(f"{byte:02x}" * layout.unit, 16))
        changed = rest != byte
        return self.first(changed) if bool(changed.any()) else None

    def checksum(self, raw: Any) -> int:
        """A number that tells a buffer from nearly every other one of its size."""
        return int(raw.view(self.xp.int64).sum().item())

    def argument(self, raw: Any, layout: Layout) -> Any:
        """A tensor of the kernel's dtype; of bytes where two elements share one."""
        units = raw.view(getattr(self.xp, _TYPES[layout.dtype]))
        shape = [layout.stored[place] for place in layout.places]
        strides = [layout.pitches[place] for place in layout.places]
        return units.as_strided(shape, strides, layout.offset // layout.unit)

    def synchronize(self) -> None:
        """Wait until the device is idle."""
        if self.place.type == "cuda":
            self.xp.cuda.synchronize(self.place)

    def seed(self, seed: int) -> None:
        """Begin the random numbers anew."""
        self._random.manual_seed(seed)

    def normal(self, shape: tuple[int, ...]) -> Any:
        """Values of N(0, 1)."""
        return self.xp.randn(shape, generator=self._random, device=self.place)

    def uniform(self, shape: tuple[int, ...], low: float, high: float) -> Any:
        """Values between two bounds."""
        return self.xp.rand(shape, generator=self._random, device=self.place) * (high - low) + low

    def integers(self, shape: tuple[int, ...], low: int, high: int) -> Any:
        """Integers between two bounds, both included."""
        narrow = low >= -(2**15) and high < 2**15 - 1
        kind = self.xp.int16 if narrow else self.xp.int64
        return self.xp.randint(low, high + 1, shape, generator=self._random, device=self.place, dtype=kind)

    def listed(self, values: tuple[float, ...], shape: tuple[int, ...]) -> Any:
        """The values of a list, in float64."""
        return self.xp.tensor(values, dtype=self.xp.float64, device=self.place).reshape(shape)

    def from_host(self, values: Any, wide: bool) -> Any:
        """A NumPy array as values."""
        return self.xp.as_tensor(values).to(self.place, self._float(wide))

    def to_host(self, values: Any) -> Any:
        """Values as a NumPy array."""
        return values.cpu().numpy()

    def _float(self, wide: bool) -> Any:
        return self.xp.float64 if wide else self.xp.float32

    def encode(self, values: Any, dtype: str) -> Any:
        """Values of one dtype as bits, rounded."""
        torch = self.xp
        if DTYPE_BITS[dtype] == 4:
            return self._pairs(values, dtype)
        if dtype == "tf32":
            bits = values.to(torch.float32).view(torch.int32)
            return (bits + 0x0FFF + ((bits >> 13) & 1)) & ~0x1FFF
        if dtype in _FLOATS:
            if dtype in LARGEST:
                values = values.clamp(-LARGEST[dtype], LARGEST[dtype])
            return values.to(getattr(torch, _FLOATS[dtype])).contiguous().view(self._bits_of(dtype))
        if dtype == "bool":
            return (values != 0).to(torch.uint8)
        if values.is_floating_point():
            values = values.round()
        # Narrowing keeps the low bits, which are those of the type without a sign too.
        return values.to(torch.int64).to(self._bits_of(dtype))

    def _pairs(self, values: Any, dtype: str) -> Any:
        torch = self.xp
        if dtype == "e2m1":
            table = torch.tensor(E2M1[:8], dtype=torch.float32, device=self.place)
            middles = (table[1:] + table[:-1]) / 2
            codes = torch.bucketize(values.abs().float().contiguous(), middles)
            codes = codes.to(torch.uint8) + (values < 0).to(torch.uint8) * 8
        else:
            codes = (values.round() if values.is_floating_point() else values).to(torch.int64)
            codes = (codes & 15).to(torch.uint8)
        return codes[..., ::2] | codes[..., 1::2] << 4

    def _single(self, bits: Any) -> Any:
        return self.xp.stack((bits & 15, bits >> 4), dim=-1).reshape(*bits.shape[:-1], -1)

    def decode(self, bits: Any, dtype: str, wide: bool) -> Any:
        """Bits as float64 (`wide`) or float32."""
        if dtype == "e2m1":
            table = self.xp.tensor(E2M1, dtype=self._float(wide), device=self.place)
            return table[self._single(bits).to(self.xp.int64)]
        if dtype in _FLOATS:
            return bits.view(getattr(self.xp, _FLOATS[dtype])).to(self._float(wide))
        return self.whole(bits, dtype).to(self._float(wide))

    def whole(self, bits: Any, dtype: str) -> Any:
        """Bits of an integer type as integers."""
        torch = self.xp
        if DTYPE_BITS[dtype] == 4:
            codes = self._single(bits).to(torch.int8)
            return torch.where(codes > 7, codes - 16, codes) if dtype == "i4" else codes
        if dtype == "bool":
            return bits != 0
        if dtype == "u8":
            return bits
        if dtype in ("u16", "u32"):
            return bits.to(torch.int64) & ((1 << DTYPE_BITS[dtype]) - 1)
        return bits.view(getattr(torch, _INTEGERS[dtype]))

    def permuted(self, values: Any, places: tuple[int, ...]) -> Any:
        """Values with their dimensions in another order, dense."""
        return values.permute(places).contiguous() if places != tuple(sorted(places)) else values

    def number(self, value: float, wide: bool) -> Any:
        """A number as values without dimensions."""
        return self.xp.tensor(float(value), dtype=self._float(wide), device=self.place)

    def call(self, function: str, values: Any) -> Any:
        """A function of the notation."""
        torch = self.xp
        match function:
            case "softmax":
                return torch.softmax(values, dim=-1)
            case "gelu":
                return torch.nn.functional.gelu(values)
            case "relu" | "sigmoid" | "tanh" | "exp" | "rsqrt":
                return getattr(torch, function)(values)
            case "silu":
                return values * torch.sigmoid(values)
            case "max":
                return values.amax(dim=-1, keepdim=True)
            case "mean":
                return values.mean(dim=-1, keepdim=True)
            case "sum":
                return values.sum(dim=-1, keepdim=True)
        raise ValueError(function)

    def triangle(self, rows: int, columns: int) -> Any:
        """Which columns a row of a causal matrix sees; the last row sees all."""
        full = self.xp.ones(rows, columns, dtype=self.xp.bool, device=self.place)
        return full.tril(diagonal=columns - rows)

    def first(self, mask: Any) -> int:
        """The place, in row-major order, of the first element that is true."""
        return int(mask.reshape(-1).to(self.xp.uint8).argmax().item())

    def norm(self, values: Any) -> float:
        """The Euclidean norm of all values, summed in float64."""
        flat = values.reshape(-1)
        squares = (part.double().square().sum() for part in flat.split(_CHUNK))
        return float(sum(squares, self.xp.zeros((), dtype=self.xp.float64, device=self.place)).sqrt().item())
