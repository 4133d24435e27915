"""`tsc build --tuned`: the values that a table found fastest, for one case or for all of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsc.cli.exits import OutputError, complain, fail

if TYPE_CHECKING:
    from tsc.artifact.tuned import Entry, Table
    from tsc.check import Proof
    from tsc.cli.options import Language
    from tsc.program.model import Program
    from tsc.spec.overrides import Overrides


@dataclass(frozen=True, slots=True)
class Request:
    """What a call of `tsc build --tuned` says."""

    spec: str
    table: str
    case: tuple[str, ...]
    changes: Overrides
    proof: Proof
    no_check: bool
    lang: Language | None


def choose(request: Request, output: str | None) -> Overrides | None:
    """What the nearest case changes in the spec; None where no sizes are named and all cases were built."""
    from tsc.check import Proof
    from tsc.cli.cases import belongs, case_of
    from tsc.cli.specs import checked, resolved
    from tsc.cli.targets import first, only

    table = table_of(request.table)
    program = _compare(table, request)
    case = case_of(request.case)
    belongs(case, program)
    defined = {define.name: define.value for define in request.changes.defines}
    names = {name for entry in table.entries for name in entry.case}
    sizes = {**{name: value for name, value in defined.items() if name in names}, **case}
    if sizes:
        return with_entry(entry_for(table, sizes, request.table), request.changes)
    report = checked(request.spec, request.changes, None, request.lang, Proof(wanted=False))
    resolved(report)
    if len(report.programs) > 1:
        request = replace(request, changes=only(first(report), request.changes))
    build_all(table, Path(output or f"{table.kernel}.tuned"), lambda entry: _cubin(request, entry))
    return None


def _cubin(request: Request, entry: Entry) -> bytes:
    from tsc.cli.build import compile_program
    from tsc.cli.specs import checked, clean, cuda, resolved

    changes = with_entry(entry, request.changes)
    report = checked(request.spec, changes, None, request.lang, request.proof)
    program = resolved(report, quiet=False) if request.no_check else clean(report)
    source = cuda(report, program)
    return compile_program(report, program, source, lineinfo=False, cached=True, verbose=False).cubin


def _compare(table: Table, request: Request) -> Program:
    """The spec as it stands. Says where a table is of another text of it, whose values may be slow now."""
    from tsc.check import Proof
    from tsc.cli.specs import checked, resolved
    from tsc.emit.manifest import spec_hash
    from tsc.spec.overrides import Overrides

    report = checked(request.spec, Overrides(), None, request.lang, Proof(wanted=False))
    program = resolved(report)
    if program.kernel != table.kernel:
        fail(f"`{request.table}` is of the kernel `{table.kernel}`, and the spec is `{program.kernel}`")
    if spec_hash(program, report.document) != table.spec_sha256:
        complain(f"`{request.table}` is of another text of the spec; its values are used all the same")
    return program


def table_of(path: str) -> Table:
    """The table of a file or folder; anything else ends the command."""
    from tsc.artifact.error import ArtifactError
    from tsc.artifact.tuned import read_table

    try:
        return read_table(Path(path))[0]
    except ArtifactError as error:
        fail(str(error))


def entry_for(table: Table, sizes: Mapping[str, Any], name: str) -> Entry:
    """The entry of the nearest case, said on standard error."""
    from tsc.artifact.tuned import nearest

    entry = nearest(table.entries, sizes)
    if entry is None:
        fail(f"`{name}` has no case")
    words = _shown(entry.overrides) or "the values of the spec"
    print(f"tuned for {_shown(entry.case)}: {words}", file=sys.stderr)
    return entry


def with_entry(entry: Entry, changes: Overrides) -> Overrides:
    """What a call changes, after what an entry changes."""
    from tsc.spec.overrides import UsageError
    from tsc.tune.space import overrides_of

    try:
        return overrides_of(entry.overrides, changes)
    except UsageError as error:
        fail(f"the table: {error}")


def build_all(table: Table, folder: Path, built: Callable[[Entry], bytes]) -> None:
    """A folder that `tsc.load` takes: a cubin an entry, equal values sharing one, and the table."""
    from tsc.artifact.tuned import SUFFIX, to_json
    from tsc.toolchain.errors import WriteError
    from tsc.toolchain.write import Output, write_outputs
    from tsc.tune.folder import called

    if not table.entries:
        fail("the table has no case")
    cubins: dict[str, bytes] = {}
    names: dict[str, str] = {}
    entries = []
    for entry in table.entries:
        own = f"{table.kernel}_{called(entry.case)}.cubin"
        name = names.setdefault(repr(sorted(entry.overrides.items())), own)
        if name not in cubins:
            cubins[name] = built(entry)
        entries.append(replace(entry, cubin=name))
    text = to_json(replace(table, entries=tuple(entries)))
    outputs = [Output(str(folder / name), data) for name, data in cubins.items()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_outputs([*outputs, Output(str(folder / f"{table.kernel}{SUFFIX}"), text.encode())])
    except (WriteError, OSError) as error:
        raise OutputError(str(error)) from error
    print(f"{folder}: {len(cubins):,} cubins for {len(entries):,} cases; `tsc.load` takes the folder")


def _shown(values: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())
