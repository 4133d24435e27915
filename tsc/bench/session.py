"""A process that runs kernels: torch, one stream, the kernels it has loaded, and the buffers of one case."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from tsc.artifact.manifest import DTYPE_BITS, Manifest, Tensor
from tsc.bench.buffers import Buffers
from tsc.bench.eager import evaluate
from tsc.bench.gpu import GpuClock, Graph, l2_bytes
from tsc.bench.race import launches_of
from tsc.bench.work import Work, work_of
from tsc.notation import NotationError
from tsc.runtime.errors import KernelError
from tsc.runtime.kernel import Kernel
from tsc.runtime.load import load_cubin
from tsc.verify.layout import as_run, names_of
from tsc.verify.plan import Case, Plan, PlanError
from tsc.verify.torch_arrays import TorchArrays

REFUSALS = (KernelError, NotationError, PlanError)
"""What says that something is not run, in a sentence; any other error has spoilt CUDA."""

RELATIVE_ERROR = 1e-2
"""Norm of the difference over the norm of the reference; ten times that for outputs of 8 bits or fewer."""


class WrongResult(Exception):
    """A kernel has not written what its reference says; the text is the sentence."""


class Session:
    """Everything that is made once a process."""

    def __init__(self) -> None:
        """Set up CUDA by way of torch, which takes some seconds. Raises PlanError without torch."""
        try:
            self.torch: Any = import_module("torch")
        except ImportError:
            raise PlanError("PyTorch is not installed, and kernels are timed with its graphs") from None
        if not self.torch.cuda.is_available():
            raise PlanError("PyTorch finds no GPU on this machine")
        self.arrays = TorchArrays()
        self.stream = self.torch.cuda.Stream()
        self.clock = GpuClock(self.torch, self.stream)
        self.l2_bytes = l2_bytes(self.torch)
        self._kernels: dict[str, Kernel] = {}

    @property
    def facts(self) -> dict[str, str]:
        """What the figures are taken on."""
        return {"device": self.arrays.device, "torch": str(self.torch.__version__)}

    def kernel(self, path: str) -> Kernel:
        """The kernel of a cubin, loaded once. Raises LoadError."""
        if path not in self._kernels:
            self._kernels[path] = load_cubin(Path(path))
        return self._kernels[path]

    def graph(self, name: str, launch: Callable[[int], Any], sets: int, launches: int = 0) -> Graph:
        """A contestant whose graph comes by every set, with at least so many launches (by default 20)."""
        wanted = max(launches, sets) if launches else launches_of(sets)
        return Graph(self.torch, self.stream, name, launch, sets, wanted)


class Bout:
    """One case: its buffers, and what its kernels are held against."""

    def __init__(self, session: Session, manifest: Manifest, plan: Plan, case: Case) -> None:
        """Make the buffers. Raises PlanError where the case lacks a size, or ShapeError."""
        self.session = session
        self.manifest = manifest
        self.trees = plan.trees()
        self.case = as_run(manifest, case)
        known = names_of(manifest, self.case)
        self.known = {**known, **{name: value for name, value in case.items() if isinstance(value, int)}}
        with session.torch.cuda.stream(session.stream):
            self.buffers = Buffers(
                session.arrays, manifest, plan, {**case, **self.case}, known, session.l2_bytes
            )
        session.stream.synchronize()
        self.work: Work = work_of(manifest, self.known, self.trees.values())
        self._wanted: dict[str, Any] = {}

    @property
    def sets(self) -> int:
        """How many sets of buffers there are."""
        return len(self.buffers.sets)

    def launcher(self, kernel: Kernel) -> Callable[[int], Any]:
        """A launch of a kernel on a set, by the names of its params. Raises LaunchError when it is called."""
        names = [param.name for param in kernel.manifest.params]
        sizes = {name: self.known[name] for name in kernel.manifest.dims if name in self.known}
        calls = [
            {**sizes, **{name: given[name] for name in names if name in given}} for given in self.buffers.sets
        ]
        return lambda index: kernel(**calls[index])

    def environment(self, index: int) -> dict[str, Any]:
        """What a reference may read of a set: tensors, numbers, sizes and constants."""
        return {**self.known, **self.buffers.sets[index]}

    def error(self, run: Callable[[], Any]) -> float | None:
        """Run a launch on the first set, outputs poisoned before, and give its relative error.

        None where there is no reference. Raises WrongResult.
        """
        session, torch = self.session, self.session.torch
        with torch.cuda.stream(session.stream):
            self.buffers.poison()
            wanted = self._references()
            run()
            errors = [self._compared(tensor, wanted) for tensor in self._outputs(wanted)]
        session.stream.synchronize()
        return max(errors, default=None)

    def _outputs(self, wanted: dict[str, Any]) -> list[Tensor]:
        return [tensor for tensor in self.manifest.tensors if tensor.name in wanted]

    def _references(self) -> dict[str, Any]:
        """The references of the first set in float32, worked out once."""
        # An `inout` is changed by each launch, and so would be what it is compared with.
        if not self._wanted and all(tensor.access != "inout" for tensor in self.manifest.tensors):
            wide = {
                name: value.float() if getattr(value, "is_floating_point", bool)() else value
                for name, value in self.environment(0).items()
            }
            self._wanted = {
                name: evaluate(self.session.torch, tree, wide) for name, tree in self.trees.items()
            }
        return self._wanted

    def _compared(self, tensor: Tensor, wanted: dict[str, Any]) -> float:
        torch = self.session.torch
        got, want = self.buffers.sets[0][tensor.name].float(), wanted[tensor.name].float()
        lost = int(torch.isnan(got).sum()) - int(torch.isnan(want).sum())
        if lost > 0:
            raise WrongResult(f"{lost:,} elements of `{tensor.name}` are unwritten or NaN")
        size = float(torch.linalg.vector_norm(want))
        off = float(torch.linalg.vector_norm(got - want))
        relative = off / size if size else (0.0 if off == 0 else math.inf)
        bound = RELATIVE_ERROR * (10 if DTYPE_BITS[tensor.dtype] <= 8 else 1)
        if not relative < bound:
            raise WrongResult(f"`{tensor.name}` has a relative error of {relative:.3g}, more than {bound:g}")
        return relative
