"""Streams of any framework as the driver's handles."""

from __future__ import annotations

import sys
from typing import Any

from tsc.runtime.errors import LaunchError

_ATTRIBUTES = ("cuda_stream", "ptr", "handle")


def handle_of(stream: object) -> int:
    """The handle of what a caller passes as `stream`.

    Takes an integer, torch and CuPy streams, whatever has `__cuda_stream__` or a `handle`, and the bindings'
    own `CUstream`. Raises LaunchError for anything else.
    """
    if type(stream) is int:
        return _handle(stream)
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        # A method in the protocol; an attribute in its first drafts.
        pair = protocol() if callable(protocol) else protocol
        return _handle(pair[1])
    for name in _ATTRIBUTES:
        value = getattr(stream, name, None)
        if value is not None:
            return _handle(value)
    if isinstance(stream, bool) or not hasattr(stream, "__int__") or isinstance(stream, float):
        raise LaunchError(
            f"`stream` is a `{type(stream).__name__}`; pass a torch or CuPy stream, an object with "
            "`__cuda_stream__`, "
            "or the handle as an integer"
        )
    return _handle(stream)


def _handle(value: Any) -> int:
    # A ctypes pointer keeps its number in `value`, and None there for the default stream.
    value = getattr(value, "value", value)
    try:
        handle = 0 if value is None else int(value)
    except (TypeError, ValueError):
        raise LaunchError(f"`stream` has a handle of type `{type(value).__name__}`, not an integer") from None
    if not 0 <= handle < 1 << 64:
        raise LaunchError("`stream` is no address; pass the handle of a stream, or 0 for the default one")
    return handle


def torch_current(device: int) -> int:
    """The stream that torch uses now on `device`; the default one if the tensor only behaves like torch's."""
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return 0
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    # The public way makes an object a call; the raw one is what compiled graphs use.
    return int(raw(device) if raw is not None else torch.cuda.current_stream(device).cuda_stream)


def cupy_current(device: int) -> int:
    """The stream that CuPy uses now on `device`."""
    current: Any = sys.modules["cupy"].cuda.get_current_stream
    try:
        return int(current(device).ptr)
    except TypeError:
        # Before it took a device, it spoke of the current one.
        return int(current().ptr)
