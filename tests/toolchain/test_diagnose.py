"""What a compile says about a spec: at the spec's own lines, in this project's words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tsc.diagnostics.model import Diagnostic, Severity
from tsc.source.span import Position, Span
from tsc.toolchain.build import Built, compile_source
from tsc.toolchain.diagnose import RULES, SpecText, to_diagnostics
from tsc.toolchain.errors import CompileFailed
from tsc.toolchain.log import LogMessage, LogSeverity
from tsc.toolchain.nvrtc import CompileOptions

SPEC = SpecText(
    "specs/k.tsc.yaml",
    "kernel: k\n"
    "works:\n"
    "  first:\n"
    "    code: |\n"
    "      p[0] = foo;  // größe\n"
    "      bar(1);\n"
    "  second: {code: 'asm volatile(\"bogus.op 3;\");'}\n"
    "  third: {code: 'lib(p);'}\n",
    anchor=Span(Position(1, 9, 8), Position(1, 10, 9)),
)


def kernel(body: str, line: int, before: str = "", bounds: str = "__launch_bounds__(128)") -> str:
    return (
        f'{before}\nextern "C" __global__ void {bounds} k(int *p) {{\n#line {line} "{SPEC.name}"\n{body}\n'
        '#line 90 "kernel.cu"\n}\n'
    )


def build(source: str, headers: dict[str, str] | None = None, **options: bool) -> Built:
    return compile_source(source, headers or {}, "sm_90a", CompileOptions(**options), spec=SPEC)


def failure(source: str, headers: dict[str, str] | None = None, **options: bool) -> CompileFailed:
    with pytest.raises(CompileFailed) as error:
        build(source, headers, **options)
    return error.value


def shown(diagnostics: tuple[Diagnostic, ...]) -> str:
    lines = []
    for one in diagnostics:
        start, end = one.span.start, one.span.end
        lines.append(
            f"{one.file}:{start.line}:{start.column}: {one.severity} {one.code} {one.name}: {one.message}"
        )
        lines.append(f"  at: {SPEC.text[start.offset : end.offset]}")
        lines += [f"  help: {one.help}"] if one.help else []
        lines += [f"  also {label.span.start.line}: {label.text}" for label in one.related]
    return "\n".join(lines) + "\n"


def test_errors_of_a_snippet_are_at_their_tokens(golden: Callable[..., None]) -> None:
    failed = failure(kernel("    p[0] = foo;  // größe\n  bar(1);", 5))
    assert failed.is_fault_of_spec
    assert str(failed) == "the CUDA of `specs/k.tsc.yaml` does not compile"
    golden(shown(failed.diagnostics))


@pytest.mark.parametrize("lineinfo", [False, True])
def test_what_the_assembler_refuses_is_at_the_snippet(lineinfo: bool) -> None:
    failed = failure(kernel('asm volatile("bogus.op 3;");', 7), lineinfo=lineinfo)
    assert [(one.code, one.span.start.line, one.message) for one in failed.diagnostics] == [
        ("TSC501", 7, "unknown modifier `.op` in the instruction `bogus.op 3;`"),
        ("TSC501", 7, "not a name of any known instruction: `bogus` in the instruction `bogus.op 3;`"),
    ]


def test_what_a_header_refuses_is_at_the_snippet_that_calls_it() -> None:
    header = 'template <class T> __device__ void lib(T x) {\n static_assert(sizeof(T) == 3, "three bytes"); }'
    failed = failure(kernel("lib(p);", 8, before='#include "lib.cuh"'), {"lib.cuh": header})
    (one,) = failed.diagnostics
    assert (one.span.start.line, one.message) == (
        8, "static assertion failed with `three bytes` in `lib.cuh`, line 2",
    )  # fmt: skip
    assert failed.internal == ()


def test_a_view_used_wrongly_is_told_at_the_snippet_in_its_own_words() -> None:
    check = 'static_assert(sizeof(T) == 3, "list it in `writes` or `updates`");'
    view = f"template <class T> __device__ void view(T x) {{ {check} x.nothing(); }}"
    failed = failure(kernel("view(p);", 8, before=view))
    (one,) = failed.diagnostics
    assert (one.code, one.span.start.line, one.message) == ("TSC501", 8, "list it in `writes` or `updates`")


def test_an_instruction_in_a_header_is_at_the_snippet_that_calls_it() -> None:
    header = """__device__ __forceinline__ void set(int *p) {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 23;"); }
    __device__ __forceinline__ void lib(int *p) { p[2] = 1; set(p); p[3] = 2; }"""
    failed = failure(kernel("lib(p);", 8, before='#include "lib.cuh"'), {"lib.cuh": header})
    assert failed.is_fault_of_spec
    assert {one.span.start.line for one in failed.diagnostics} == {8}
    assert "expected to be multiple of 8" in failed.diagnostics[0].message


def test_an_open_bracket_is_a_fault_of_the_spec_as_a_whole() -> None:
    failed = failure(kernel("if (p[1]) { p[3] = 1;", 8).removesuffix("}\n"))
    assert failed.is_fault_of_spec
    assert failed.diagnostics[0].span == SPEC.anchor
    assert failed.diagnostics[0].message == "expected a `}` at the end of the generated source"
    assert failed.diagnostics[0].help == "look for an opening bracket without its closing one"


def test_generated_code_that_does_not_compile_is_a_fault_of_tsc() -> None:
    failed = failure(kernel("p[0] = 1;", 5, before="__device__ int\tx = nothing;"))
    assert not failed.is_fault_of_spec
    assert failed.diagnostics == ()
    assert failed.internal == (
        'kernel.cu(1): identifier "nothing" is undefined\n'
        "    __device__ int\tx = nothing;\n"
        "                  \t    ^",
    )
    assert "a fault of tsc" in str(failed)


def test_what_follows_from_a_wrong_snippet_is_not_blamed_on_tsc() -> None:
    failed = failure(kernel("bar(1)", 6))
    assert failed.is_fault_of_spec
    assert failed.internal != ()


def test_one_snippet_in_several_places_is_one_diagnostic() -> None:
    part = f'#line 6 "{SPEC.name}"\nbar(1);\n'
    failed = failure(kernel(f"bar(1);\n{part}{part}", 6))
    assert [one.message for one in failed.diagnostics] == ["identifier `bar` is undefined"]


def test_a_warning_is_there_on_success() -> None:
    built = build(kernel("int foo; p[0] = 1;", 5))
    assert [(one.code, one.severity, one.span.start.line) for one in built.diagnostics] == [
        ("TSC502", Severity.WARNING, 5)
    ]
    start, end = built.diagnostics[0].span.start, built.diagnostics[0].span.end
    assert SPEC.text[start.offset : end.offset] == "foo"


def test_a_warning_in_generated_code_is_nothing_for_the_user() -> None:
    built = build(kernel("p[0] = 1;", 5).replace('#line 90 "kernel.cu"', '#line 90 "kernel.cu"\nint unused;'))
    assert "unused" in built.log
    assert built.diagnostics == ()


def test_spills_are_reported_once_with_their_size() -> None:
    body = "int a[64];\n#pragma unroll\nfor (int i = 0; i < 64; i++) a[i] = p[i * 7];\n__syncthreads();\n"
    body += "#pragma unroll\nfor (int i = 0; i < 64; i++) p[i] = a[i] * a[63 - i];"
    built = build(kernel(body, 5, bounds="__maxnreg__(24)"))
    (one,) = built.diagnostics
    assert (one.code, one.name, one.span) == ("TSC503", "register-spill", SPEC.anchor)
    usage = built.usage
    assert usage.spill_stores > 0 and usage.registers == 24
    assert one.message == (
        "each thread spills registers to local memory at 24 registers: "
        f"{usage.spill_stores:,} B of stores and {usage.spill_loads:,} B of loads"
    )


def test_an_array_in_local_memory_is_reported() -> None:
    body = "int a[100]; for (int i = 0; i < 100; i++) a[i] = p[i * 7];"
    body += "for (int i = 0; i < 100; i++) p[i] = a[a[i] % 100];"
    built = build(kernel(body, 5))
    assert [(one.code, one.message) for one in built.diagnostics] == [
        ("TSC504", f"each thread keeps {built.usage.stack_bytes} B in local memory")
    ]


def test_an_ignored_setmaxnreg_is_reported() -> None:
    built = build(kernel('asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");', 5, bounds=""))
    (one,) = built.diagnostics
    assert (one.code, one.name) == ("TSC505", "setmaxnreg-ignored")
    assert "`setmaxnreg` ignored; unable to determine register count at entry" in one.message


def test_a_serialised_wgmma_is_reported_at_its_line() -> None:
    body = """float x[4] = {1, 2, 3, 4}; unsigned long long d = p[4]; for (int i = 0; i < p[9]; i++) {
asm volatile("wgmma.fence.sync.aligned;");
asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %4, 1, 1, 1, 0, 0;"
             : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3]) : "l"(d));
x[0] *= 2.f;
asm volatile("wgmma.commit_group.sync.aligned;");
asm volatile("wgmma.wait_group.sync.aligned 0;"); }
p[threadIdx.x] = x[0] + x[1] + x[2] + x[3];"""
    built = build(kernel(body, 1))
    (one,) = built.diagnostics
    assert (one.code, one.span.start.line) == ("TSC506", 5)
    assert "line" not in one.message


def accumulators(columns: int, body: str = "") -> str:
    """A loop of products of 64 rows into registers, with a statement after each."""
    count = columns // 2
    outs = ", ".join(f'"+f"(x[{i}])' for i in range(count))
    names = ",".join(f"%{i}" for i in range(count))
    shape = f"m64n{columns}k16.f32.bf16.bf16"
    return f"""float x[{count}]; for (int i = 0; i < {count}; i++) x[i] = p[i]; unsigned long long d = p[4];
asm volatile("wgmma.fence.sync.aligned;");
for (int i = 0; i < p[9]; i++) {{
asm volatile("wgmma.mma_async.sync.aligned.{shape} {{{names}}}, %{count}, %{count}, 1, 1, 1, 0, 0;"
             : {outs} : "l"(d));
asm volatile("wgmma.commit_group.sync.aligned;");
{body}
asm volatile("wgmma.wait_group.sync.aligned 0;"); }}
for (int i = 0; i < {count}; i++) p[threadIdx.x + i] = x[i];"""


def test_an_instruction_without_enough_registers_is_refused_in_words() -> None:
    failed = failure(kernel(accumulators(256), 1, bounds="__launch_bounds__(512)"))
    (one,) = failed.diagnostics
    assert (one.code, one.name) == ("TSC507", "registers-run-out")
    assert one.message == "an instruction needs 154 registers a thread at the start, and there are 128"


def test_an_instruction_that_finds_no_registers_in_its_task_is_one_that_runs_out_of_them() -> None:
    text = "Register allocation failed with register count of '255'. Compile the program with a higher target"
    (one,) = to_diagnostics([LogMessage(LogSeverity.ERROR, text, tool="ptxas")], "a: 1", "s")
    assert one.code == "TSC507" and "255" not in one.message and "more `registers`" in one.help


def test_counts_below_what_products_need_are_said_to_be() -> None:
    text = "'setmaxnreg' ignored to maintain minimum register requirements."
    (one,) = to_diagnostics([LogMessage(LogSeverity.WARNING, text, tool="ptxas")], "a: 1", "s")
    assert one.code == "TSC505" and "larger `registers`" in one.help


def test_a_serialised_wgmma_has_the_help_of_its_reason() -> None:
    built = build(kernel(accumulators(128, "x[0] *= 2.f;"), 1))
    helps = {one.help for one in built.diagnostics if one.code == "TSC506"}
    wanted = "touch an accumulator only after the wait that completes it, and unroll loops over a fragment"
    assert wanted in helps
    text = (
        "wgmma.mma_async instructions are serialized due to insufficient register resources for the pipeline"
    )
    (one,) = to_diagnostics([LogMessage(LogSeverity.WARNING, text, tool="ptxas")], "a: 1", "s")
    assert one.code == "TSC506" and "more `registers`" in one.help


def test_a_place_after_the_text_is_its_last_line() -> None:
    message = LogMessage(LogSeverity.ERROR, "odd", file="s", line=99)
    (one,) = to_diagnostics([message], "a: 1\nb: 2", "s")
    assert (one.span.start.line, one.span.start.offset, one.span.end.offset) == (2, 5, 9)
    (one,) = to_diagnostics([message], "", "s")
    assert one.span == Span(Position(1, 1, 0), Position(1, 1, 0))


def test_rules_have_their_own_codes_and_names() -> None:
    assert len({rule.code for rule in RULES}) == len({rule.name for rule in RULES}) == len(RULES)
