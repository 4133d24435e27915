"""Tensor maps: encoded by the driver once for each tensor as it lies in memory, then taken from a table."""

from __future__ import annotations

from collections.abc import Mapping

from tsc.artifact.manifest import TensorMap
from tsc.runtime.cache import RecentlyUsed
from tsc.runtime.driver import Cuda
from tsc.runtime.dtypes import Dtype
from tsc.runtime.errors import LaunchError
from tsc.runtime.layout import Laid
from tsc.runtime.signature import Signature

STAND_IN_BYTES = 16

_KEPT = 512
_LARGEST_EXTENT = 1 << 32
_LARGEST_PITCH = 1 << 40


class TensorMaps:
    """The tensor maps of one kernel; for use by several threads."""

    def __init__(self, cuda: Cuda, signature: Signature) -> None:
        self._cuda = cuda
        self._maps = tuple((one, *signature.element(one.tensor)) for one in signature.manifest.tensor_maps)
        self._encoded: RecentlyUsed[bytes] = RecentlyUsed(_KEPT)

    def empty(self, laid: Mapping[str, Laid]) -> dict[str, Laid]:
        """What stands in for each mapped tensor without elements."""
        return {
            one.tensor: stand_in(laid[one.tensor], dtype, order)
            for one, dtype, order in self._maps
            if 0 in laid[one.tensor].shape
        }

    def encoded(self, index: int, pointers: Mapping[str, int], laid: Mapping[str, Laid]) -> bytes:
        """The 128 bytes of map `index` over its tensor. Raises LaunchError if no such map can be."""
        described, dtype, order = self._maps[index]
        pointer, tensor = pointers[described.tensor], laid[described.tensor]
        key = (index, pointer, tensor.shape, tensor.strides)
        found = self._encoded.get(key)
        if found is None:
            found = self._encode(described, dtype, order, pointer, tensor)
            self._encoded.put(key, found)
        return found

    def _encode(
        self, described: TensorMap, dtype: Dtype, order: tuple[int, ...], pointer: int, laid: Laid
    ) -> bytes:
        # The driver counts from the contiguous dimension on, the manifest from the slowest one.
        inward = tuple(reversed(order))
        extents = [laid.shape[dim] for dim in inward]
        pitches = [laid.strides[dim] * dtype.bits // 8 for dim in inward[1:]]
        box = list(reversed(described.box))
        # Elements of less than a byte are moved as bytes.
        extents[0] = extents[0] * min(dtype.bits, 8) // 8
        self._check(described.tensor, inward, extents, pitches)
        try:
            return self._cuda.encode_tiled(
                dtype.map_type,
                pointer,
                extents,
                pitches,
                box,
                described.swizzle,
                described.l2,
                described.fill == "nan",
            )
        except LaunchError as error:
            facts = (
                f"type {dtype.name}, extents {_listed(extents)}, pitches {_listed(pitches)} B, box "
                f"{_listed(box)}, "
                f"swizzle {described.swizzle} B, address {pointer:#x}, contiguous dimension first"
            )
            raise LaunchError(f"`{described.tensor}` gets no tensor map ({facts}): {error}") from None

    def _check(self, name: str, inward: tuple[int, ...], extents: list[int], pitches: list[int]) -> None:
        for dim, extent in zip(inward, extents, strict=True):
            if extent > _LARGEST_EXTENT:
                raise LaunchError(
                    f"`{name}` has extent {extent:,} in dimension {dim}, and a tensor map holds "
                    f"{_LARGEST_EXTENT:,}"
                )
        for dim, pitch in zip(inward[1:], pitches, strict=True):
            if pitch % 16:
                raise LaunchError(
                    f"`{name}` has a pitch of {pitch:,} B in dimension {dim}, and a tensor map needs a "
                    "multiple of 16 B; "
                    f"pad it to {-(-pitch // 16) * 16:,} B"
                )
            if pitch >= _LARGEST_PITCH:
                raise LaunchError(
                    f"`{name}` has a pitch of {pitch:,} B in dimension {dim}, and a tensor map holds less "
                    "than "
                    f"{_LARGEST_PITCH:,} B"
                )


def stand_in(laid: Laid, dtype: Dtype, order: tuple[int, ...]) -> Laid:
    """The tensor that an empty one gets a map of, since the driver makes none of no elements: 16 bytes along
    the contiguous dimension.
    """
    inner = STAND_IN_BYTES * 8 // dtype.bits
    shape = tuple(inner if dim == order[-1] else 1 for dim in range(len(laid.shape)))
    return Laid(shape, tuple(1 if dim == order[-1] else inner for dim in range(len(shape))))


def _listed(values: list[int]) -> str:
    return "[" + ", ".join(f"{value:,}" if value < 10_000 else str(value) for value in values) + "]"
