"""Reads a cubin (an ELF file for CUDA) with the standard library: symbols, architecture, what a kernel needs.

The bytes may come from anywhere. Whatever is wrong with them ends in one `ArtifactError`, and memory stays
in proportion to the file: names are compared in place and counts are held against the file's size.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tsc.artifact.error import ArtifactError

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQII8xQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_EM_CUDA = 190
_SHT_SYMTAB, _SHT_NOBITS = 2, 8
_STT_FUNC = 2
_STO_CUDA_ENTRY = 0x10
# In e_ident; the eighth ABI moved the architecture from the lowest byte of e_flags to the second one.
_ABI_FLAGS_MOVED = 8

_NVAL, _BVAL, _HVAL, _SVAL = 1, 2, 3, 4
_MAX_THREADS = 0x05
_FRAME_SIZE = 0x11
_MIN_STACK_SIZE = 0x12
_KPARAM_INFO = 0x17
_CBANK_PARAM_SIZE = 0x19
_REGCOUNT = 0x2F
_CTA_PER_CLUSTER = 0x3D
_NUM_BARRIERS = 0x4C

# The hardware keeps the first KiB of every CTA's shared memory, and the section's size counts it.
_RESERVED_SHARED, _RESERVED_SINCE = 1024, 90

_LARGEST_FILE = 256 << 20
_LONGEST_NAME = 4096
_MOST_KERNELS = 4096


@dataclass(frozen=True, slots=True)
class Section:
    """One section header; `name` is an offset into the table of section names."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    entry_size: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """One entry of the symbol table."""

    index: int
    name: int
    info: int
    other: int
    section: int
    value: int
    size: int


@dataclass(frozen=True, slots=True)
class Parameter:
    """One kernel parameter: its place in the parameter buffer and its size, in bytes."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Resources:
    """What a kernel needs, as the assembler recorded it; None where the file does not say."""

    registers: int | None
    """per thread, at entry"""
    static_smem_bytes: int
    """without the part that the hardware reserves"""
    stack_bytes: int | None
    """local memory per thread, spills included"""
    named_barriers: int | None
    parameter_bytes: int | None
    parameters: tuple[Parameter, ...]
    max_threads: tuple[int, int, int] | None
    """of `__launch_bounds__`"""
    cluster: tuple[int, int, int] | None
    """of `__cluster_dims__`"""


@dataclass(frozen=True)
class Cubin:
    """An ELF file for CUDA whose headers are sound; made by `read_cubin`."""

    data: bytes = field(repr=False)
    abi: int
    flags: int
    sections: tuple[Section, ...]
    names: Section
    """the table of section names"""

    def section(self, name: str) -> Section | None:
        """The first section of that name."""
        wanted = name.encode()
        return next((one for one in self.sections if self._is_named(self.names, one.name, wanted)), None)

    def contents(self, section: Section) -> bytes:
        """The bytes of a section; one without bytes in the file, such as shared memory, has none."""
        if section.kind == _SHT_NOBITS:
            return b""
        return self.data[section.offset : section.offset + section.size]

    def bytes_of(self, symbol: str) -> bytes | None:
        """The initial value of a variable, None if there is no such variable.

        Raises ArtifactError if the symbol points outside its section.
        """
        wanted = symbol.encode()
        for one in self._symbols():
            if one.section == 0 or not self._is_named(self._symbol_names, one.name, wanted):
                continue
            if one.section >= len(self.sections):
                raise ArtifactError(f"the cubin is damaged: symbol `{symbol}` has no section")
            section = self.sections[one.section]
            start = one.value - section.address
            if section.kind == _SHT_NOBITS or start < 0 or start + one.size > section.size:
                raise ArtifactError(f"the cubin is damaged: symbol `{symbol}` reaches outside its section")
            return self.data[section.offset + start : section.offset + start + one.size]
        return None

    @cached_property
    def kernels(self) -> tuple[str, ...]:
        """The names of all kernels, in the file's order."""
        names: list[str] = []
        for symbol in self._kernel_symbols():
            if len(names) == _MOST_KERNELS:
                raise ArtifactError(f"the cubin is damaged: it names more than {_MOST_KERNELS:,} kernels")
            names.append(self._text(self._symbol_names, symbol.name))
        return tuple(names)

    @cached_property
    def arch(self) -> str:
        """The target, such as `sm_90a`.

        Only the assembler's own note keeps the suffix; without the note, the number alone is known.
        """
        note = self.section(".note.nv.tkinfo")
        found = re.search(rb"-arch\s+(sm_\d{2,4}[a-z]?)\b", self.contents(note)) if note else None
        if found:
            return found[1].decode()
        return f"sm_{self.flags >> 8 & 0xFF if self.abi >= _ABI_FLAGS_MOVED else self.flags & 0xFF}"

    @cached_property
    def assembler(self) -> str:
        """The version of the assembler, such as `V13.5.37`; empty if the file does not say."""
        note = self.section(".note.nv.tkinfo")
        found = re.search(rb"release [\d.]+, (V[\d.]+)", self.contents(note)) if note else None
        return found[1].decode() if found else ""

    def resources(self, kernel: str) -> Resources:
        """What a kernel needs. Raises ArtifactError if the cubin has no such kernel."""
        index = self._index_of(kernel)
        of_function: dict[int, int] = {}
        for attribute, value in self._attributes(".nv.info"):
            if attribute in (_REGCOUNT, _FRAME_SIZE, _MIN_STACK_SIZE) and len(value) == 8:
                function, amount = struct.unpack("<II", value)
                if function == index:
                    of_function[attribute] = amount
        sizes: dict[int, int] = {}
        triples: dict[int, tuple[int, int, int]] = {}
        parameters: dict[int, Parameter] = {}
        for attribute, value in self._attributes(f".nv.info.{kernel}"):
            if attribute in (_CBANK_PARAM_SIZE, _NUM_BARRIERS):
                sizes[attribute] = int.from_bytes(value, "little")
            elif attribute in (_MAX_THREADS, _CTA_PER_CLUSTER) and len(value) == 12:
                x, y, z = struct.unpack("<III", value)
                triples[attribute] = (x, y, z)
            elif attribute == _KPARAM_INFO and len(value) == 12:
                _, ordinal, offset, packed = struct.unpack("<IHHI", value)
                parameters[ordinal] = Parameter(offset, packed >> 18)
        return Resources(
            registers=of_function.get(_REGCOUNT),
            static_smem_bytes=self._static_shared(kernel),
            stack_bytes=of_function.get(_MIN_STACK_SIZE, of_function.get(_FRAME_SIZE)),
            named_barriers=sizes.get(_NUM_BARRIERS, 0),  # left out where there is none
            parameter_bytes=sizes.get(_CBANK_PARAM_SIZE),
            parameters=tuple(parameters[ordinal] for ordinal in sorted(parameters)),
            max_threads=triples.get(_MAX_THREADS),
            cluster=triples.get(_CTA_PER_CLUSTER),
        )

    def _index_of(self, kernel: str) -> int:
        wanted = kernel.encode()
        for symbol in self._kernel_symbols():
            if self._is_named(self._symbol_names, symbol.name, wanted):
                return symbol.index
        raise ArtifactError(f"the cubin has no kernel `{kernel}`")

    def _static_shared(self, kernel: str) -> int:
        section = self.section(f".nv.shared.{kernel}")
        if section is None:
            return 0
        number = re.search(r"\d+", self.arch)
        reserved = _RESERVED_SHARED if number and int(number[0]) >= _RESERVED_SINCE else 0
        return max(0, section.size - reserved)

    @cached_property
    def _symbol_table(self) -> Section | None:
        return next((one for one in self.sections if one.kind == _SHT_SYMTAB), None)

    @cached_property
    def _symbol_names(self) -> Section:
        table = self._symbol_table
        if table is None or table.link >= len(self.sections):
            raise ArtifactError("the cubin is damaged: its symbols have no table of names")
        return self.sections[table.link]

    def _symbols(self) -> Iterator[Symbol]:
        table = self._symbol_table
        if table is None:
            return
        count = table.size // _SYMBOL.size
        view = memoryview(self.data)[table.offset : table.offset + count * _SYMBOL.size]
        for index, (name, info, other, section, value, size) in enumerate(_SYMBOL.iter_unpack(view)):
            yield Symbol(index, name, info, other, section, value, size)

    def _kernel_symbols(self) -> Iterator[Symbol]:
        for symbol in self._symbols():
            if symbol.info & 0xF == _STT_FUNC and symbol.other & _STO_CUDA_ENTRY and symbol.section:
                yield symbol

    def _attributes(self, section_name: str) -> Iterator[tuple[int, bytes]]:
        """The attributes of an `.nv.info` section: format byte, attribute byte, then a value or its size."""
        section = self.section(section_name)
        data = self.contents(section) if section else b""
        at = 0
        while at + 4 <= len(data):
            layout, attribute, value = data[at], data[at + 1], data[at + 2 : at + 4]
            at += 4
            if layout == _SVAL:
                size = int.from_bytes(value, "little")
                if at + size > len(data):
                    raise ArtifactError(f"the cubin is damaged: section `{section_name}` is cut off")
                yield attribute, data[at : at + size]
                at += size
            elif layout in (_NVAL, _BVAL, _HVAL):
                yield attribute, value[:1] if layout == _BVAL else value
            else:
                raise ArtifactError(f"the cubin is damaged: section `{section_name}` has an unknown layout")

    def _is_named(self, table: Section, offset: int, wanted: bytes) -> bool:
        start = table.offset + offset
        end = start + len(wanted) + 1
        return end <= table.offset + table.size and self.data[start:end] == wanted + b"\0"

    def _text(self, table: Section, offset: int) -> str:
        start = table.offset + offset
        limit = min(table.offset + table.size, start + _LONGEST_NAME)
        end = self.data.find(b"\0", start, limit) if start < limit else -1
        if end < 0:
            raise ArtifactError("the cubin is damaged: a name has no end")
        return self.data[start:end].decode("utf-8", "backslashreplace")


def read_file(path: str | Path) -> bytes:
    """The bytes of a cubin file. Raises ArtifactError with the reason if they cannot be had."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST_FILE + 1)
    except FileNotFoundError:
        raise ArtifactError(f"`{path}` does not exist") from None
    except IsADirectoryError:
        raise ArtifactError(f"`{path}` is a folder, not a cubin") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ArtifactError(f"`{path}` cannot be read: {reason}") from None
    if len(data) > _LARGEST_FILE:
        raise ArtifactError(f"`{path}` is larger than {_LARGEST_FILE:,} B, which no cubin is")
    return data


def read_cubin(data: bytes) -> Cubin:
    """Check the headers of a cubin. Raises ArtifactError with what the bytes are instead."""
    _refuse_others(data)
    if len(data) < _HEADER.size:
        raise ArtifactError(f"the cubin is cut off: {len(data):,} B are less than an ELF header")
    header = _HEADER.unpack_from(data)
    ident, _, machine, _, _, segments, table, flags, _, segment_size, segment_count, entry, count, names = (
        header
    )
    if ident[4:6] != b"\x02\x01" or machine != _EM_CUDA:
        raise ArtifactError(f"the file is an ELF file for machine {machine}, not a 64-bit cubin")
    if entry != _SECTION.size or names >= count:
        raise ArtifactError("the cubin is damaged: its header describes no table of sections")
    if max(table + count * entry, segments + segment_count * segment_size) > len(data):
        raise ArtifactError(f"the cubin is cut off: its tables end after the file's {len(data):,} B")
    rows = _SECTION.iter_unpack(memoryview(data)[table : table + count * entry])
    sections = tuple(Section(*row) for row in rows)
    for section in sections:
        if section.kind != _SHT_NOBITS and section.offset + section.size > len(data):
            raise ArtifactError(f"the cubin is cut off: a section ends after the file's {len(data):,} B")
    if sections[names].kind == _SHT_NOBITS:
        raise ArtifactError("the cubin is damaged: its sections have no table of names")
    return Cubin(data, ident[8], flags, sections, sections[names])


def _refuse_others(data: bytes) -> None:
    """Say what a file is that is not ELF."""
    if not data:
        raise ArtifactError("the file is empty")
    if data.startswith(b"\x7fELF"):
        return
    if data.startswith((b"\x50\xed\x55\xba", b"\x46\x62\x43\xb1")):
        raise ArtifactError("the file is a fatbin, not a cubin")
    if re.match(rb"\s*(//[^\n]*\n\s*)*\.version", data[:4096]):
        raise ArtifactError("the file is PTX text, not a cubin")
    raise ArtifactError("the file is not an ELF file, so it is no cubin")
