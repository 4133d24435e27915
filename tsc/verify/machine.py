"""What this machine verifies with: its GPU by PyTorch, else by NumPy and the driver."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from tsc.runtime.driver import connect
from tsc.runtime.errors import LoadError
from tsc.verify.arrays import Arrays

INSTALL = (
    "neither PyTorch nor NumPy is installed, and references are evaluated with one of them; "
    "`pip install torch`, or `pip install numpy` for small cases"
)


def arrays_here() -> Arrays:
    """The arrays of this machine. Raises LoadError where there is no GPU, or nothing to evaluate with."""
    connect()
    if find_spec("torch") is not None and import_module("torch").cuda.is_available():
        from tsc.verify.torch_arrays import TorchArrays

        return TorchArrays()
    if find_spec("numpy") is None:
        raise LoadError(INSTALL)
    from tsc.verify.memory import DeviceMemory
    from tsc.verify.numpy_arrays import NumpyArrays

    return NumpyArrays(DeviceMemory())
