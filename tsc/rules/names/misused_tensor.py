"""Uses a tensor as a number, or a number as a tensor.

What it does
    Checks in every expression that a tensor param is indexed with as many indices as it has dimensions,
    that its elements are integers, and that nothing else is indexed.

Why is this bad
    A tensor has no value of its own, and expressions compute with integers.

Example
    params:
      offsets: {dtype: i32, shape: [seqs + 1]}
    let: {length: offsets - offsets}

Use instead
    let: {length: "offsets[tile.seq_id + 1] - offsets[tile.seq_id]"}
"""

from __future__ import annotations

from collections.abc import Iterator

from tsc.diagnostics.model import Finding, Place, Rule, Severity
from tsc.expr.tree import Call, Index, Ref, walk
from tsc.program.model import Program, Tensor
from tsc.program.scope import Site

RULE = Rule(
    "TSC112", "misused-tensor", Severity.ERROR, "a tensor stands for a number, or a number for a tensor"
)

INTEGERS = {"i8", "u8", "i32", "u32", "i64", "bool"}


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each tensor without its indices and each index without a tensor."""
    for site in program.sites:
        for node, message, help in misuses(program, site):
            yield Finding(RULE.name, message, Place(site.route, within=(node.start, node.end)), help=help)


def misuses(program: Program, site: Site) -> Iterator[tuple[Index | Ref, str, str]]:
    """Yield what is misused in an expression, with the message and the help."""
    searched: set[int] = set()
    for node in walk(site.expr.tree):
        match node:
            case Call(function="find", args=(Ref(name=name) as ref, _)):
                searched.add(ref.start)
                if name not in program.tensors and name in site.scope:
                    yield ref, f"`find` searches a tensor, and `{name}` is none", "name a tensor of offsets"
                elif name in program.tensors:
                    yield from _indexed(program.tensors[name], ref, 1)
            case Index(name=name, args=args):
                tensor = program.tensors.get(name)
                if tensor is None and name not in site.scope:
                    continue  # nothing at all has that name
                if tensor is None:
                    yield node, f"`{name}` is no tensor and cannot be indexed", f"write `{name}`"
                else:
                    yield from _indexed(tensor, node, len(args))
            case Ref(name=name) if name in program.tensors and node.start not in searched:
                message = f"`{name}` is a tensor and has no value of its own"
                yield node, message, next((h for _, _, h in _indexed(program.tensors[name], node, 0)), "")


def _indexed(tensor: Tensor, node: Index | Ref, given: int) -> Iterator[tuple[Index | Ref, str, str]]:
    name, rank = tensor.name, tensor.rank
    if tensor.dtype not in INTEGERS:
        message = f"`{name}` holds {tensor.dtype}, and expressions compute with integers"
        yield node, message, "name an integer tensor, or compute it in a work"
    elif given != rank:
        counted = "1 dimension" if rank == 1 else f"{rank} dimensions"
        indices = "1 index" if given == 1 else f"{given} indices"
        help = (
            f"write `{name}[{', '.join('ijklm'[:rank])}]`, an index a dimension"
            if rank
            else "read it in a work"
        )
        yield node, f"`{name}` has {counted} and is given {indices}", help
