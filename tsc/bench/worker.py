"""The process in which `tsc bench` runs kernels: one request, one case. See `tsc.bench.watch`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tsc.bench import race
from tsc.bench.against import opponent
from tsc.bench.report import BENCH_VERSION, rows
from tsc.bench.session import REFUSALS, Bout, Session, WrongResult
from tsc.bench.watch import Message, serve
from tsc.verify.plan import PlanError, from_json

Say = Callable[[Message], None]


def answer(request: Message, say: Say) -> None:
    """Race the kernel of `cubin` on `case` against each of `against`; `error` is said instead of a result."""
    try:
        session = Session()
        say({"result": bench(session, request, say)})
    except WrongResult as error:
        say({"error": f"the kernel is wrong, and is not timed: {error}"})
    except REFUSALS as error:
        say({"error": str(error)})


def bench(session: Session, request: Message, say: Say) -> dict[str, Any]:
    """The result of one request. Raises WrongResult, KernelError, NotationError or PlanError."""
    kernel = session.kernel(request["cubin"])
    ours = kernel.manifest.kernel
    say({"at": "the buffers"})
    bout = Bout(session, kernel.manifest, from_json(request["plan"]), request["case"])
    say({"at": ours})
    launch = bout.launcher(kernel)
    error = bout.error(lambda: launch(0))
    names = {ours: f"{ours} of {Path(request['cubin']).name}"}
    contestants = [session.graph(ours, launch, bout.sets)]
    for against in request["against"]:
        say({"at": against})
        try:
            names[against], graph = opponent(bout, against)
        except REFUSALS as refusal:
            raise PlanError(f"`--against {against}`: {refusal}") from None
        contestants.append(graph)

    def at(name: str) -> None:
        say({"at": name})

    laps = {
        "settled": race.settled(
            contestants,
            session.clock,
            turns=request["turns"],
            load=request["load"],
            least=request["least"],
            at=at,
        ),
        "burst": race.burst(contestants, session.clock, turns=request["bursts"], at=at),
    }
    return {
        "bench": BENCH_VERSION,
        "kernel": ours,
        "case": dict(request["case"]),
        **session.facts,
        "sets": bout.sets,
        "flop": bout.work.flop,
        "bytes": bout.work.bytes,
        "unit": bout.work.unit,
        "relative_error": error,
        "rows": rows(names, laps, bout.work),
    }


if __name__ == "__main__":
    serve(answer)
