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
from tsc.program.model import Program
from tsc.program.scope import Site

RULE = Rule(
    "TSC112", "misused-tensor", Severity.ERROR, "a tensor stands for a number, or a number for a tensor"
)

INTEGERS = {"i8", "u8", "i32", "u32", "i64", "bool"}


def check(program: Program) -> Iterator[Finding]:
    """Yield a finding for each tensor without its indices and each index without a tensor."""
    for site in program.sites:
        whole: set[int] = set()
        for node in walk(site.expr.tree):
            if isinstance(node, Call) and node.function == "find" and isinstance(node.args[0], Ref):
                whole.add(node.args[0].start)
                if node.args[0].name not in program.tensors:
                    yield _finding(
                        site, node.args[0], f"`find` searches a tensor, and `{node.args[0].name}` is none"
                    )
            if isinstance(node, Index):
                yield from _index(program, site, node)
            elif isinstance(node, Ref) and node.name in program.tensors and node.start not in whole:
                yield _finding(
                    site, node, f"`{node.name}` is a tensor and has no value of its own", f"{node.name}[0]"
                )


def _index(program: Program, site: Site, node: Index) -> Iterator[Finding]:
    tensor = program.tensors.get(node.name)
    if tensor is None:
        yield _finding(site, node, f"`{node.name}` is no tensor and cannot be indexed", node.name)
    elif len(node.args) != tensor.rank:
        given, wanted = len(node.args), tensor.rank
        yield _finding(site, node, f"`{node.name}` has {wanted} dimensions and is given {given} indices")
    elif tensor.dtype not in INTEGERS:
        yield _finding(
            site, node, f"`{node.name}` holds {tensor.dtype}, and expressions compute with integers"
        )


def _finding(site: Site, node: Index | Ref, message: str, instead: str = "") -> Finding:
    return Finding(
        RULE.name,
        message,
        Place(site.route, within=(node.start, node.end)),
        help=f"write `{instead}`" if instead else "give it an integer tensor with one index a dimension",
    )
