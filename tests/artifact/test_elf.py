"""The ELF reader against cubins of NVRTC, and against bytes that are not what they claim."""

from __future__ import annotations

import contextlib
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tsc.artifact.elf import Cubin, Parameter, read_cubin, read_file
from tsc.artifact.error import ArtifactError

FOR_X86 = b"\x7fELF\x02\x01" + b"\0" * 12 + b"\x3e" + b"\0" * 60


def everything(data: bytes) -> None:
    """Ask a cubin for all that it can say."""
    cubin = read_cubin(data)
    cubin.bytes_of("tsc_manifest")
    assert cubin.arch.startswith("sm_")
    for kernel in cubin.kernels[:3]:
        cubin.resources(kernel)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_90a", "sm_100a", "sm_100f", "sm_103a", "sm_120a"])
def test_the_architecture_keeps_its_suffix(cubin_for: Callable[[str], bytes], arch: str) -> None:
    assert read_cubin(cubin_for(arch)).arch == arch


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100a"])
def test_resources_are_what_the_assembler_recorded(cubin_for: Callable[[str], bytes], arch: str) -> None:
    resources = read_cubin(cubin_for(arch)).resources("tma_copy")
    assert resources.registers is not None and 8 <= resources.registers <= 32
    assert resources.static_smem_bytes == 96 * 4
    assert resources.stack_bytes == 0
    assert resources.named_barriers == 1
    assert resources.parameters == (Parameter(0, 8), Parameter(8, 4))
    assert resources.parameter_bytes == 12
    assert resources.max_threads == (96, 1, 1)
    assert resources.cluster is None


def test_resources_agree_with_the_assemblers_log() -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    from tsc.toolchain.log import parse_log
    from tsc.toolchain.nvrtc import compile_cuda

    source = """
    struct Table { int values[20]; };
    extern "C" __global__ void __cluster_dims__(2, 1, 1) k(int *p, const Table table) {
        int local[100];
        for (int i = 0; i < 100; i++) local[i] = p[i * 7];
        asm volatile("bar.sync 3, 64;");
        for (int i = 0; i < 100; i++) p[i] = local[local[i] % 100] + table.values[i % 20];
    }
    """
    made = compile_cuda(source, arch="sm_90a")
    usage = parse_log(made.log).usage["k"]
    resources = read_cubin(made.cubin).resources("k")
    assert resources.registers == usage.registers > 0
    assert resources.stack_bytes == usage.stack_bytes >= 400
    assert resources.named_barriers == usage.barriers == 4
    assert resources.cluster == (2, 1, 1)
    assert resources.parameters == (Parameter(0, 8), Parameter(8, 80))


def test_a_variable_is_found_behind_others() -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    from tsc.toolchain.nvrtc import compile_cuda

    source = """
    extern "C" __device__ int first = 7;
    extern "C" __device__ const char tsc_manifest_x[] = "other";
    extern "C" __device__ const char tsc_manifest[] = "this one";
    extern "C" __device__ int zeros[9];
    extern "C" __global__ void k(int *p) { p[0] = first + zeros[p[1]] + tsc_manifest_x[p[2]]; }
    """
    cubin = read_cubin(compile_cuda(source, arch="sm_90a").cubin)
    assert cubin.bytes_of("tsc_manifest") == b"this one\0"
    assert cubin.bytes_of("first") == b"\7\0\0\0"
    assert cubin.bytes_of("absent") is None
    assert cubin.kernels == ("k",)
    with pytest.raises(ArtifactError, match="has no kernel `other`"):
        cubin.resources("other")
    with pytest.raises(ArtifactError, match="`zeros` reaches outside"):
        cubin.bytes_of("zeros")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "the file is empty"),
        (b"version: 1\n", "the file is not an ELF file, so it is no cubin"),
        (b"//\n// made by hand\n\n.version 9.0\n.target sm_90a\n", "the file is PTX text, not a cubin"),
        (b"\x50\xed\x55\xba rest", "the file is a fatbin, not a cubin"),
        (b"\x7fELF\x02\x01", "the cubin is cut off: 6 B are less than an ELF header"),
        (FOR_X86, "the file is an ELF file for machine 62, not a 64-bit cubin"),
    ],
)
def test_other_files_are_named(data: bytes, sentence: str) -> None:
    with pytest.raises(ArtifactError) as error:
        read_cubin(data)
    assert str(error.value) == sentence


def test_every_truncation_is_refused_or_whole(cubin: bytes) -> None:
    for length in range(0, len(cubin) - 1, 7):
        with pytest.raises(ArtifactError):
            everything(cubin[:length])


@settings(max_examples=300)
@given(data=st.data())
def test_no_byte_can_break_the_reader(cubin: bytes, data: st.DataObject) -> None:
    broken = bytearray(cubin)
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(broken) - 1))
        broken[at] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ArtifactError):
        everything(bytes(broken))


@settings(max_examples=300)
@given(data=st.data())
def test_no_field_of_a_header_can_break_the_reader(cubin: bytes, data: st.DataObject) -> None:
    broken = bytearray(cubin)
    (table,) = struct.unpack_from("<Q", broken, 40)
    (count,) = struct.unpack_from("<H", broken, 60)
    field = data.draw(st.sampled_from(["<I", "<Q"]))
    width = struct.calcsize(field)
    value = data.draw(st.sampled_from([0, 1, len(cubin), 2**31, 2**32 - 1, 2**63, 2**64 - 1])) % 2 ** (
        8 * width
    )
    at = data.draw(st.one_of(st.integers(16, 60), st.integers(table, table + count * 64 - 8)))
    struct.pack_into(field, broken, at, value)
    with contextlib.suppress(ArtifactError):
        everything(bytes(broken))


@given(st.binary(max_size=400))
def test_no_bytes_can_break_the_reader(tail: bytes) -> None:
    for head in (b"", b"\x7fELF\x02\x01\x01A\x08" + b"\0" * 7 + b"\x02\0\xbe\0"):
        with contextlib.suppress(ArtifactError):
            everything(head + tail)


def test_hostile_counts_cost_no_memory() -> None:
    """Many sections and symbols that all claim the whole file stay in proportion to it."""
    count, size = 2000, 1 << 20
    ident = b"\x7fELF\x02\x01\x01A\x08" + b"\0" * 7
    header = struct.pack("<16sHHIQQQIHHHHHH", ident, 2, 190, 1, 0, 0, 64, 0x6005A04, 64, 0, 0, 64, count, 0)
    section = struct.pack("<IIQQQQII8xQ", 7, 2, 0, 0, 0, size, 0, 0, 24)
    data = header + section * count
    data += b"\x12\x10" * ((size - len(data)) // 2)
    tracemalloc.start()
    try:
        with contextlib.suppress(ArtifactError):
            everything(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * size


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"^`.*none\.cubin` does not exist$"):
        read_file(tmp_path / "none.cubin")
    with pytest.raises(ArtifactError, match="is a folder, not a cubin"):
        read_file(tmp_path)
    with pytest.raises(ArtifactError, match="cannot be read"):
        read_file("a\0b")
    (tmp_path / "file").write_bytes(b"abc")
    assert read_file(str(tmp_path / "file")) == b"abc"
    with pytest.raises(ArtifactError, match="cannot be read: Not a directory"):
        read_file(tmp_path / "file" / "below")


def test_a_cubin_without_the_assemblers_note_has_the_number_alone(cubin: bytes) -> None:
    read = read_cubin(cubin.replace(b".note.nv.tkinfo", b".note.nv.xkinfo"))
    assert isinstance(read, Cubin)
    assert (read.arch, read.assembler) == ("sm_90", "")
