"""Bytes as segments: shared and tensor memory cut at every boundary of a buffer, stage and share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from tsc.program.model import Memory, Program
from tsc.prove.machine import Cells, Segment
from tsc.prove.translate.translation import Bytes, SegmentSource

Place = tuple[str, int, int, str]  # memory, copy, stage (0 without stages), buffer


@dataclass(frozen=True, slots=True)
class _Range:
    place: Place
    space: str
    begin: int
    end: int


class Bank:
    """The segments of the system, those of memory first.

    `shares` says into how many parts loads that CTAs share cut a buffer, by memory and buffer.
    """

    def __init__(self, program: Program, ctas: range, shares: Mapping[tuple[str, str], int]) -> None:
        self.program, self.shares = program, shares
        self.sources: list[SegmentSource] = []
        self.names: list[str] = []
        self.others: dict[tuple[str, int, int], Segment] = {}  # answers of a queue: name, stage, CTA
        self._ranges = [part for memory in program.memories.values() for part in _ranges(memory)]
        # Of each CTA and place, its segments in order with their first byte, counted from the buffer's.
        self._found: dict[tuple[int, Place], list[tuple[int, Segment]]] = {}
        for cta in ctas:
            for space in dict.fromkeys(part.space for part in self._ranges):
                self._cut(cta, space, several=len(ctas) > 1)

    def _cut(self, cta: int, space: str, several: bool) -> None:
        ranges = sorted(
            (part for part in self._ranges if part.space == space), key=lambda part: (part.begin, part.end)
        )
        cuts: set[int] = set()
        for part in ranges:
            parts = self.shares.get((part.place[0], part.place[3]), 1)
            cuts |= {part.begin + (part.end - part.begin) * i // parts for i in range(parts + 1)}
        ordered, first = sorted(cuts), 0
        for begin, end in pairwise(ordered):
            while first < len(ranges) and ranges[first].end <= begin:
                first += 1
            owners = []
            for part in ranges[first:]:
                if part.begin > begin:
                    break
                owners += [part] if end <= part.end else []
            if not owners:
                continue
            bytes_ = tuple(self._bytes(part, begin, end) for part in owners)
            segment = self.add(SegmentSource("memory", cta, bytes_), _named(bytes_, cta if several else None))
            for part in owners:
                self._found.setdefault((cta, part.place), []).append((begin - part.begin, segment))

    def _bytes(self, part: _Range, begin: int, end: int) -> Bytes:
        name, copy, stage, buffer = part.place
        ring = self.program.memories[name].ring
        return Bytes(name, copy, stage if ring else None, buffer, begin, end)

    def add(self, source: SegmentSource, name: str) -> Segment:
        """Add a segment and return it."""
        self.sources.append(source)
        self.names.append(name)
        return len(self.sources) - 1

    def known(self, memory: Memory) -> bool:
        """Whether the bytes of a memory have a place."""
        return memory.offset is not None

    def cells(
        self, memory: Memory, copy: int, buffer: str | None, cta: int, share: tuple[int, int] | None = None
    ) -> Cells:
        """Return the segments of a buffer (of all without one) by stage; of a share `(i, n)` its part."""
        buffers = [one for one in memory.buffers if buffer is None or one.name == buffer]
        found = []
        for stage in range(max(1, memory.stages or 1)):
            segments: list[Segment] = []
            for one in buffers:
                inside = self._found.get((cta, (memory.name, copy, stage, one.name)), [])
                if share is not None:
                    number, parts = share
                    low, high = one.bytes * number // parts, one.bytes * (number + 1) // parts
                    inside = [(at, segment) for at, segment in inside if low <= at < high]
                segments += [segment for _, segment in inside]
            found.append(tuple(dict.fromkeys(segments)))
        return tuple(found)

    def alone(self, names: tuple[str, ...], copy: int) -> bool:
        """Whether rings share their bytes with nothing but the same stage of one another."""
        for source in self.sources:
            if source.kind != "memory":
                continue
            mine = {(one.resource, one.copy, one.stage) for one in source.owners}
            if any(name in names and c == copy for name, c, _ in mine):
                if any(name not in names or c != copy for name, c, _ in mine):
                    return False
                if len({stage for _, _, stage in mine}) > 1:
                    return False
        return True


def _ranges(memory: Memory) -> list[_Range]:
    if memory.kind == "signal" or memory.offset is None:
        return []
    found = []
    for copy in range(memory.copies):
        for stage in range(max(1, memory.stages or 1)):
            base = memory.offset + copy * memory.copy_bytes + stage * memory.stage_bytes
            for buffer in memory.buffers:
                begin = base + buffer.offset
                place = (memory.name, copy, stage, buffer.name)
                found.append(_Range(place, memory.kind, begin, begin + max(1, buffer.bytes)))
    return found


def _named(owners: tuple[Bytes, ...], cta: int | None) -> str:
    texts = []
    for one in owners:
        name = one.resource if one.buffer == one.resource else f"{one.resource}.{one.buffer}"
        copy = f"[{one.copy}]" if one.copy else ""
        texts.append(f"`{name}{copy}`" + ("" if one.stage is None else f" stage {one.stage}"))
    text = " and ".join(dict.fromkeys(texts))
    return text if cta is None else f"{text} of CTA {cta}"
