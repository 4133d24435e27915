"""The half of `gemm.py` that runs kernels: a process that is asked for one shape at a time.

It says what it is about to run, so that a kernel that hangs is known by name; see `tsc.bench.watch`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tsc.bench import race
from tsc.bench.figures import figure, ratio
from tsc.bench.gpu import GpuClock, Graph, l2_bytes
from tsc.bench.watch import Message, serve
from tsc.runtime.errors import KernelError
from tsc.runtime.load import load_cubin
from tsc.tune.halving import halve

Say = Callable[[Message], None]

RELATIVE_ERROR = 1e-2
"""Norm of the difference over the norm of the reference."""
LARGEST_ERROR = 0.1
"""Of one element, over the root mean square of the reference: rounding gives 0.01, a lost element about 1."""
GUARD = 4096
"""Elements after an output, which nobody may write."""
OTHERS = {"bf16": "torch.matmul", "e4m3": "torch._scaled_mm"}
SCALE = 0.5


class Problem:
    """The buffers of one shape, and what the kernels are held against."""

    def __init__(self, torch: Any, m: int, n: int, k: int, dtype: str) -> None:
        """Make as many sets of operands as the L2 asks for, and the reference of the first in float32."""
        self.torch, self.dtype = torch, dtype
        self.m, self.n, self.k = m, n, k
        size = 1 if dtype == "e4m3" else 2
        self.sets = race.sets_of(size * (m + n) * k + 2 * m * n, l2_bytes(torch))
        torch.manual_seed(m * 31 + n * 17 + k)
        self.a = [self._normal(m, k) for _ in range(self.sets)]
        self.b = [self._normal(n, k) for _ in range(self.sets)]
        room = {"device": "cuda", "dtype": torch.bfloat16}
        self.flat = [torch.empty(m * n + GUARD, **room) for _ in range(self.sets)]
        self.d = [flat[: m * n].view(m, n) for flat in self.flat]
        self.scale = torch.full((1,), SCALE, device="cuda")
        self.reference = self.a[0].float() @ self.b[0].float().T
        if dtype == "e4m3":
            self.reference *= SCALE * SCALE
        self.size = float(torch.linalg.vector_norm(self.reference))

    def _normal(self, rows: int, columns: int) -> Any:
        torch = self.torch
        made = torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16)
        return made.to(torch.float8_e4m3fn) if self.dtype == "e4m3" else made

    def poison(self) -> None:
        """Make every element of the first output, and what lies behind it, NaN."""
        self.flat[0].fill_(float("nan"))

    def error(self) -> float:
        """The relative error of the first output. Raises ValueError with a sentence for a wrong one."""
        torch, d = self.torch, self.d[0]
        if not bool(torch.isnan(self.flat[0][self.m * self.n :]).all()):
            raise ValueError("it writes behind its output")
        unwritten = int(torch.isnan(d).sum())
        if unwritten:
            raise ValueError(f"{unwritten:,} elements are unwritten or NaN")
        off = d.float() - self.reference
        relative = float(torch.linalg.vector_norm(off)) / self.size
        largest = float(off.abs().max()) / (self.size / (self.m * self.n) ** 0.5)
        if not (relative < RELATIVE_ERROR and largest < LARGEST_ERROR):
            raise ValueError(f"it is wrong: relative error {relative:.3g}, largest {largest:.3g}")
        return relative

    def other(self) -> Callable[[int], Any]:
        """What the kernels race: cuBLAS by way of torch."""
        torch, a, d = self.torch, self.a, self.d
        b = [one.T for one in self.b]
        if self.dtype == "e4m3":
            options = {"out_dtype": torch.bfloat16, "use_fast_accum": True}
            scaled, scale = torch._scaled_mm, self.scale[0]
            return lambda i: scaled(a[i], b[i], scale_a=scale, scale_b=scale, **options)
        return lambda i: torch.matmul(a[i], b[i], out=d[i])

    def arguments(self, kernel: Any, candidate: Message, index: int) -> dict[str, Any]:
        """What a kernel is called with: operands by the names of its params, and what the plan adds."""
        a, b, d = self.a[index], self.b[index], self.d[index]
        known = {"a": a, "b": b, "d": d, "alpha": 1.0, "beta": 0.0, **candidate.get("arguments", {})}
        given = {}
        for param in kernel.manifest.params:
            if param.name.startswith("scale"):
                known.setdefault(param.name, self.scale if hasattr(param, "shape") else SCALE)
            if param.name in known:
                given[param.name] = known[param.name]
        return given


class Bench:
    """Answers requests; keeps what is dear to make."""

    def __init__(self) -> None:
        torch: Any = import_module("torch")
        torch.backends.cuda.matmul.allow_tf32 = False
        self.torch = torch
        self.stream = torch.cuda.Stream()
        self.clock = GpuClock(torch, self.stream)
        self.kernels: dict[str, Any] = {}

    def answer(self, request: Message, say: Say) -> None:
        """One shape: check every candidate, tune, race the best against torch."""
        torch = self.torch
        say({"at": "inputs"})
        with torch.cuda.stream(self.stream):
            problem = Problem(torch, request["m"], request["n"], request["k"], request["dtype"])
        self.stream.synchronize()
        other = OTHERS[problem.dtype]
        say({"at": other})
        launches = race.launches_of(problem.sets)
        contestants = {other: self._graph(problem, other, problem.other(), 4)}
        launchers: dict[str, Callable[[int], Any]] = {}
        errors: dict[str, float] = {}
        for candidate in request["candidates"]:
            name = candidate["name"]
            say({"at": name})
            try:
                launchers[name] = self._launcher(problem, candidate)
                errors[name] = self._checked(problem, partial(launchers[name], 0))
                contestants[name] = self._graph(problem, name, launchers[name], 4)
            except (KernelError, ValueError) as error:
                say({"failed": name, "why": str(error)})
        tried = self._tune(contestants, other, request, say)
        best = [one["name"] for one in tried[: request["finalists"]]]
        final = [self._graph(problem, other, problem.other(), launches)]
        for name in best:
            say({"at": name})
            final.append(self._graph(problem, name, launchers[name], launches))
        if not best:
            say({"result": {"sets": problem.sets, "rows": [], "tried": tried}})
            return
        rows = self._race(final, other, request, say)
        for contestant in final[1:]:
            say({"at": contestant.name})
            try:
                again = self._checked(problem, contestant.replay)
            except ValueError as error:
                say({"failed": contestant.name, "why": f"{error}, after the timing"})
                rows = [row for row in rows if row["name"] != contestant.name]
            else:
                errors[contestant.name] = max(again, errors[contestant.name])
        for row in rows:
            if row["name"] in errors:
                row["relative_error"] = float(f"{errors[row['name']]:.3g}")
        say({"result": {"sets": problem.sets, "launches_a_graph": launches, "rows": rows, "tried": tried}})

    def _graph(self, problem: Problem, name: str, launch: Callable[[int], Any], launches: int) -> Any:
        return Graph(self.torch, self.stream, name, launch, problem.sets, max(launches, problem.sets))

    def _launcher(self, problem: Problem, candidate: Message) -> Callable[[int], Any]:
        path = candidate["path"]
        if path not in self.kernels:
            self.kernels[path] = load_cubin(path)
        kernel = self.kernels[path]
        calls = [problem.arguments(kernel, candidate, index) for index in range(problem.sets)]
        return lambda index: kernel(**calls[index])

    def _checked(self, problem: Problem, run: Callable[[], Any]) -> float:
        with self.torch.cuda.stream(self.stream):
            problem.poison()
            run()
            return problem.error()

    def _tune(
        self, contestants: dict[str, Any], other: str, request: Message, say: Say
    ) -> list[dict[str, Any]]:
        begin = self.clock.now()
        beside: list[float] = []

        def measure(names: Sequence[str], block: float, turns: int) -> dict[str, list[float]]:
            racing = [contestants[other], *(contestants[name] for name in names)]
            laps = race.settled(
                racing,
                self.clock,
                turns=turns,
                block=block,
                load=block,
                seed=len(names),
                at=lambda name: say({"at": name}),
            )
            beside[:] = laps.pop(other).samples
            return {name: lap.samples for name, lap in laps.items()}

        names = [name for name in contestants if name != other]
        ranked = halve(
            names,
            measure,
            keep=request["finalists"],
            spent=lambda: self.clock.now() - begin > request["seconds"],
        )
        return [
            {"name": one.name, "microseconds": round(one.seconds * 1e6, 2), "rung": one.rung}
            for one in ranked
        ]

    def _race(self, final: list[Any], other: str, request: Message, say: Say) -> list[dict[str, Any]]:
        blocks = 0

        def at(name: str) -> None:
            nonlocal blocks
            blocks += 1
            # Well under way: time for the watcher to look at clock and power.
            say({"at": name, **({"racing": True} if blocks == 5 * len(final) else {})})

        turns = request["turns"]
        laps = {
            "settled": race.settled(
                final, self.clock, turns=turns, load=request["load"], least=request["least"], at=at
            ),
            "burst": race.burst(final, self.clock, turns=request["bursts"], at=at),
        }
        work = 2.0 * request["m"] * request["n"] * request["k"]
        rows = []
        for contestant in final:
            row: dict[str, Any] = {"name": contestant.name}
            for kind, ran in laps.items():
                lap = ran[contestant.name]
                shown = figure(lap.samples, lap.launches)
                row[kind] = {
                    "microseconds": round(shown.seconds * 1e6, 2),
                    "tflops": round(work / shown.seconds / 1e12, 1),
                    "spread": round(shown.spread, 4),
                    "standard_error": round(shown.error, 4),
                    "launches": shown.launches,
                }
                if contestant.name != other:
                    compared = ratio(ran[other].samples, lap.samples)
                    row[kind] |= {
                        "ratio": round(compared.value, 4),
                        "ratio_error": round(compared.error, 4),
                    }
            rows.append(row)
        return rows


def main() -> None:
    """Serve until standard input ends; any other error ends the process, because CUDA is spoilt by then."""
    bench = Bench()
    serve(bench.answer)


if __name__ == "__main__":
    main()
