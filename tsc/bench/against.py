"""Whom a kernel races: cuBLAS or torch by way of its reference, a copy of as many bytes, or another cubin."""

from __future__ import annotations

from typing import Any

from tsc.bench.eager import cublas, eager
from tsc.bench.gpu import Graph
from tsc.bench.session import Bout
from tsc.verify.plan import PlanError

NAMED = ("cublas", "torch", "memcpy")


def opponent(bout: Bout, against: str, launches: int = 0) -> tuple[str, Graph]:
    """What is run, in words, and the contestant, which is called `against`.

    Raises PlanError where the spec has no reference to run, and LoadError or LaunchError for a cubin.
    """
    session = bout.session
    if against == "memcpy":
        return _memcpy(bout, launches)
    if against not in NAMED:
        kernel = session.kernel(against)
        words = f"{kernel.manifest.kernel} of {kernel.manifest.spec}"
        return words, session.graph(against, bout.launcher(kernel), bout.sets, launches)
    if len(bout.trees) != 1:
        count = len(bout.trees) or "none"
        raise PlanError(f"it runs the reference of one output, and `verify.reference` has {count}")
    ((output, tree),) = bout.trees.items()
    environments = [bout.environment(index) for index in range(bout.sets)]
    with session.torch.cuda.stream(session.stream):
        if against == "cublas":
            words, run = cublas(session.torch, output, tree, environments[0])
        else:
            words, run = eager(session.torch, output, tree)
    return words, session.graph(against, lambda index: run(environments[index]), bout.sets, launches)


def _memcpy(bout: Bout, launches: int) -> tuple[str, Graph]:
    torch = bout.session.torch
    half = max(1, bout.work.bytes // 2)
    pairs: list[tuple[Any, Any]] = [
        tuple(torch.zeros(half, dtype=torch.uint8, device="cuda") for _ in range(2)) for _ in range(bout.sets)
    ]
    torch.cuda.synchronize()
    words = f"a copy of {half:,} B, which reads and writes as many bytes"
    return words, bout.session.graph("memcpy", lambda i: pairs[i][1].copy_(pairs[i][0]), bout.sets, launches)
