"""The log's forms, as NVRTC 13.5 writes them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tsc.toolchain.log import LogSeverity, Usage, parse_log
from tsc.toolchain.nvrtc import Rejected, compile_cuda
from tsc.toolchain.ptx import LineTable, SourceLine


def rejected(source: str) -> Rejected:
    try:
        compile_cuda(source, arch="sm_90a")
    except Rejected as error:
        return error
    raise AssertionError("this source compiles")


def test_an_error_has_its_place_its_line_and_its_caret() -> None:
    log = rejected(
        'extern "C" __global__ void k(int *p) {\n#line 42 "spec.yaml"\n\tp[0] = foo;\n int unused; }'
    ).log
    first, second = parse_log(log).messages
    assert (first.severity, first.file, first.line) == (LogSeverity.ERROR, "spec.yaml", 42)
    assert first.text == 'identifier "foo" is undefined'
    assert first.caret is not None and first.source[first.caret :] == "foo;"
    assert (second.severity, second.code, second.line) == (LogSeverity.WARNING, "177-D", 43)


def test_notes_belong_to_the_error_above_them() -> None:
    source = """__device__ void h(int); __device__ void h(float);
extern "C" __global__ void k(int *p) { h(1, 2); }"""
    (message,) = parse_log(rejected(source).log).messages
    assert [note.line for note in message.notes] == [1, 1]
    assert message.details == ("            argument types are: (int, int)",)
    assert message.source.startswith('extern "C"')


def test_instantiations_are_callers() -> None:
    source = """#line 1 "tools.cuh"
template <class T> __device__ void inner(T x) { static_assert(sizeof(T) == 3); }
template <class T> __device__ void outer(T x) { inner(x); }
#line 30 "kernel.cu"
extern "C" __global__ void k(int *p) {
#line 8 "a b.yaml"
    outer(p);
}"""
    (message,) = parse_log(rejected(source).log).messages
    assert (message.file, message.line) == ("tools.cuh", 1)
    assert message.callers == (SourceLine("tools.cuh", 2), SourceLine("a b.yaml", 8))


def test_the_end_of_the_source_has_no_place() -> None:
    (message,) = parse_log(rejected('extern "C" __global__ void k(int *p) { if (p[0]) {').log).messages[:1]
    assert (message.severity, message.file, message.line) == (LogSeverity.ERROR, None, None)
    assert message.notes[0].file == "kernel.cu"


def test_a_complaint_after_the_statistics_is_an_error() -> None:
    source = """extern "C" __global__ void k(int *p) {
        __shared__ int s[70000]; s[p[3]] = 1; __syncthreads(); p[0] = s[p[1]]; }"""
    (message,) = parse_log(rejected(source).log).messages
    assert (message.severity, message.tool) == (LogSeverity.ERROR, "ptxas")
    assert message.text.startswith("Entry function 'k' uses too much shared data")


def test_usage_counts_what_a_called_function_spills() -> None:
    source = """__device__ __noinline__ int f(int *p) {
        int a[100];
        for (int i = 0; i < 100; i++) a[i] = p[i * 7];
        for (int i = 0; i < 100; i++) p[i] = a[a[i] % 100];
        return a[3]; }
    __constant__ int table[10];
    extern "C" __global__ void k(int *p) {
        __shared__ int s[100];
        s[threadIdx.x] = p[3]; asm volatile("bar.sync 3, 64;"); p[0] = f(p + 1) + table[p[3]] + s[p[1]]; }
    extern "C" __global__ void small(int *p) { p[0] = 1; }"""
    usage = parse_log(compile_cuda(source, arch="sm_90a").log).usage
    assert set(usage) == {"k", "small"}
    k = usage["k"]
    assert k.registers > 8 and k.stack_bytes >= 400 and k.smem_bytes == 400 and k.barriers == 4
    assert usage["small"].stack_bytes == 0 and usage["small"].smem_bytes == 0


RECORDED = "\n".join(
    [
        "ptxas warning : Local memory used for function 'k', size of stack frame: 144 bytes",
        "ptxas warning : Registers are spilled to local memory in function 'k', 140 "
        "bytes spill stores, 132 bytes spill loads",
        "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; "
        "unable to determine register count at entry.",
        "ptxas info    : (C7517) wgmma.wait_group is injected in around line 47 by "
        "compiler to allow use of registers in GMMA",
        "ptxas x.ptx, line 5; warning : something of line 5",
        "ptxas info    : 0 bytes gmem, 40 bytes cmem[3]",
        "ptxas info    : Compiling entry function 'k' for 'sm_90a'",
        "ptxas info    : Function properties for k",
        "ptxas         .     144 bytes stack frame, 140 bytes spill stores, 132 bytes spill loads",
        "ptxas info    : Used 24 registers, used 1 barriers, 144 bytes cumulative stack "
        "size, 8 bytes smem, 360 bytes cmem[0]",
        "ptxas info    : Compile time = 8.688 ms",
        "Something that nobody has seen yet",
    ]
)


def test_the_assemblers_own_lines() -> None:
    log = parse_log(RECORDED)
    assert log.usage == {"k": Usage(24, 140, 132, 144, 8, 1, 360)}
    assert [(one.severity, one.code, one.ptx_line) for one in log.messages] == [
        (LogSeverity.WARNING, "", None),
        (LogSeverity.WARNING, "", None),
        (LogSeverity.WARNING, "C7508", None),
        (LogSeverity.WARNING, "C7517", 47),
        (LogSeverity.WARNING, "", 5),
        (LogSeverity.INFO, "", None),
    ]


PIECES = [
    *RECORDED.splitlines(),
    "a(1): error: b",
    "  x",
    "  ^",
    "",
    "At end of source: error: c",
    "\0",
    "ptxas",
]


@settings(max_examples=200)
@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=20)), max_size=12))
def test_no_log_can_break_the_reader(lines: list[str]) -> None:
    parse_log("\n".join(lines))


def test_a_line_of_ptx_leads_through_inlining_to_the_source() -> None:
    source = """#line 1 "wrap größe.cuh"
__device__ __forceinline__ void inner(int x) {
    asm volatile("bogus.op %0;" ::"r"(x)); }
__device__ __forceinline__ void outer(int *p, int y) {
    p[7] = y; inner(y + p[8]); }
#line 30 "kernel.cu"
extern "C" __global__ void k(int *p) {
#line 43 "spec.yaml"
    outer(p, 3);
    p[1] = 9; }"""
    from tsc.toolchain.nvrtc import CompileOptions

    try:
        compile_cuda(source, arch="sm_90a", options=CompileOptions(lineinfo=True))
    except Rejected as error:
        table = LineTable(error.ptx, lambda name: name.removeprefix("/tsc/"))
        (line,) = {message.ptx_line for message in parse_log(error.log).messages}
    assert line is not None
    assert table.text(line).startswith("bogus.op")
    places = [SourceLine("wrap größe.cuh", 2), SourceLine("wrap größe.cuh", 4), SourceLine("spec.yaml", 43)]
    assert list(table.places(line)) == places
    assert table.places(0) == () and table.text(10**6) == ""
