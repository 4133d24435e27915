"""A loaded kernel: it checks its arguments, launches on the caller's stream and remembers both."""

from __future__ import annotations

import math
import struct
import threading
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeAlias

from tsc.artifact.manifest import (
    CounterArgument,
    Manifest,
    PointerArgument,
    ScalarArgument,
    TensorMapArgument,
)
from tsc.runtime.arguments import Dims, arrange, named_dims, read_slowly, reader_of
from tsc.runtime.binding import Binding, bind, grid_of
from tsc.runtime.cache import RecentlyUsed
from tsc.runtime.counters import Counters
from tsc.runtime.devices import RESIDENT, Device, Devices, persistent
from tsc.runtime.dims import fill
from tsc.runtime.driver import PER_THREAD_STREAM, Cuda
from tsc.runtime.dtypes import DTYPES
from tsc.runtime.errors import LaunchError
from tsc.runtime.launch import NOTHING, Launch, Nothing, Parameters
from tsc.runtime.layout import Laid, check_address, check_place
from tsc.runtime.maps import STAND_IN_BYTES, TensorMaps
from tsc.runtime.scalars import Number, number, packed_or_refused
from tsc.runtime.signature import ScalarParam, Slot, TensorParam, WorkspaceTensor, signature_of
from tsc.runtime.streams import cupy_current, handle_of, torch_current
from tsc.runtime.tensors import ASK_DRIVER, Facts, host_sentence, read_torch
from tsc.runtime.workspace import Block, Workspaces

Mapped: TypeAlias = tuple[Mapping[str, int], Mapping[str, Laid]]
"""Address and place in memory of what tensor maps are made of."""

_KEPT_LAUNCHES = 256
_KEPT_BINDINGS = 256

_double = struct.Struct("<d").pack
_address = struct.Struct("<Q").pack


class Kernel:
    """A kernel that `tsc.load` made; call it with the arguments of the spec's `params`, in order or by name.

    `kernel(x, y, eps, stream=None, **dims)` enqueues one launch and returns at once. Tensors are torch
    tensors, CuPy arrays, or anything with `__dlpack__` or `__cuda_array_interface__`, all on one GPU, which
    is the one that runs the kernel; scalars are Python or NumPy numbers. A dim that no shape tells is passed
    by name. `stream` is a torch or CuPy stream, an object with `__cuda_stream__`, or a handle; by default it
    is the current stream of torch, else of CuPy, if an argument is theirs, else the legacy default stream. (A
    param that is itself called `stream` is passed by position.)

    Types, shapes, strides, alignment and the spec's promises are checked before anything is launched, and a
    mistake raises LaunchError. Not checked: whether an output shares memory with another argument, and
    whether work on another stream that makes an argument is done. Where a tensor or the grid has extent 0,
    nothing is launched, unless the spec has the kernel run with that dim at 0 (`min: 0`).

    Types that a framework lacks may be passed as their bits: u16 for bf16, u8 for 8-bit floats, and for 4-bit
    types u8 with two elements a byte, the first in the low half; the contiguous extent then counts bytes.

    For use by several threads. Under CUDA-graph capture a call launches into the graph, if a call with the
    same shapes has been made on that stream before: loading code and allocating workspaces have no place in a
    graph. The kernel and its workspaces live until `close`, because graphs need both.
    """

    def __init__(self, manifest: Manifest, image: bytes, cuda: Cuda) -> None:
        self._signature = signature_of(manifest)
        self._params = self._signature.params
        self._cuda = cuda
        # The driver may come back to the image whenever it first loads the code into a context.
        self._image = image
        self._library = cuda.load_library(image)
        handle = cuda.find_kernel(self._library, manifest.kernel)
        self._function = cuda.driver.CUfunction(int(handle))
        self._devices = Devices(cuda, manifest, handle)
        self._maps = TensorMaps(cuda, self._signature)
        self._workspaces = Workspaces(cuda)
        kinds = [isinstance(slot.argument, CounterArgument) for slot in self._signature.slots]
        self._counter = kinds.index(True) if True in kinds else 0
        self._counters = Counters(cuda) if True in kinds else None
        self._bindings: RecentlyUsed[Binding] = RecentlyUsed(_KEPT_BINDINGS)
        self._launches: RecentlyUsed[Launch | Nothing] = RecentlyUsed(_KEPT_LAUNCHES)
        self._closed = False

    @property
    def manifest(self) -> Manifest:
        """Everything that the cubin says about the kernel."""
        return self._signature.manifest

    def __repr__(self) -> str:
        params = ", ".join(
            f"{param.name}: {param.dtype.name} {param.shape_text}"
            if isinstance(param, TensorParam)
            else f"{param.name}: {param.dtype}"
            for param in self._params
        )
        return f"<tsc kernel {self.manifest.kernel}({params}) for {self.manifest.arch}>"

    def __call__(self, /, *arguments: Any, stream: Any = None, **named: Any) -> None:
        """Enqueues the kernel. Raises LaunchError, with nothing launched."""
        try:
            dims: Dims = ()
            if named or len(arguments) != len(self._params):
                arguments, dims = arrange(self._signature, arguments, named)
            handle = None if stream is None else handle_of(stream)
            key, handle, kept = self._read(arguments, handle)
            call = (
                (*key, handle, dims, threading.get_ident())
                if handle == PER_THREAD_STREAM
                else (*key, handle, dims)
            )
            launch = self._launches.get(call)
            if launch is None:
                launch = self._prepare(arguments, key, handle, dims)
                self._launches.put(call, launch)
            launch.run()
            # What an exchange protocol lent may go now: its memory is freed in the order of its stream.
            del kept
        except LaunchError as error:
            raise LaunchError(f"`{self.manifest.kernel}`: {error}") from None

    def grid(self, **dims: int) -> tuple[int, int, int]:
        """The grid in CTAs for these dims and integer scalars; `sms` is the current GPU's unless given too.

        Raises LaunchError for dims that the kernel does not take.
        """
        given = dict(dims)
        known: dict[str, int | bool] = {}
        try:
            for param in self._params:
                if isinstance(param, ScalarParam) and param.in_expressions and param.name in given:
                    known[param.name] = int(number(param.name, param.dtype, given.pop(param.name)))
            known |= self._device_names(given.pop("sms", None))
            return grid_of(self._signature, fill(self._signature, named_dims(self._signature, given), known))
        except LaunchError as error:
            raise LaunchError(f"`{self.manifest.kernel}`: {error}") from None

    def prepare(self, device: int | None = None) -> None:
        """Loads the code onto a GPU (by default the current one) ahead of the first call.

        Raises LaunchError where the kernel does not run on it.
        """
        where = self._current_device() if device is None else device
        try:
            with self._cuda.on(where):
                self._devices.ready(where)
        except LaunchError as error:
            raise LaunchError(f"`{self.manifest.kernel}`: {error}") from None

    def close(self) -> None:
        """Frees the workspaces and unloads the code; no launch may be under way and no graph may hold one."""
        if self._closed:
            return
        self._closed = True
        self._launches.clear()
        self._bindings.clear()
        self._workspaces.free()
        if self._counters is not None:
            self._counters.free()
        self._cuda.unload_library(self._library)

    def _current_device(self) -> int:
        current = self._cuda.current_device()
        return 0 if current is None else current

    def _device_names(self, sms: int | None) -> dict[str, int]:
        """What a device gives expressions: that with so many multiprocessors, else the current one."""
        number = self._current_device()
        if not persistent(self.manifest):
            count = self._cuda.device_fact(number, "MULTIPROCESSOR_COUNT") if sms is None else sms
            return {"sms": count}
        if sms is not None:
            clusters = sms * self.manifest.ctas_per_sm // math.prod(self.manifest.cluster)
            return {"sms": sms, RESIDENT: max(1, clusters)}
        with self._cuda.on(number):
            return self._devices.ready(number).names

    def _read(self, arguments: Sequence[Any], stream: int | None) -> tuple[list[Any], int, list[object]]:
        """What tells one call from another (facts and numbers), the stream, and what to keep for now."""
        key: list[Any] = []
        exported = []
        current = None
        device = 0
        try:
            for param, value in zip(self._params, arguments, strict=True):
                kind = type(value)
                if isinstance(param, TensorParam):
                    read = reader_of(kind)
                    if read is None:
                        exported.append(len(key))
                        key.append(None)
                        continue
                    facts = read(value)
                    key.append(facts)
                    if current is None or (read is read_torch and current is cupy_current):
                        current = torch_current if read is read_torch else cupy_current
                        device = facts.device
                    continue
                if kind is not float and kind is not int:
                    value = number(param.name, param.dtype, value)
                    kind = type(value)
                # 0.0 equals -0.0, and NaN does not equal itself; their bits are another matter.
                key.append(_double(value) if kind is float else (kind, value))
        except LaunchError:
            raise
        except Exception as error:
            name = self._params[len(key)].name
            raise LaunchError(
                f"`{name}` is a tensor without readable memory ({_first_line(error)})"
            ) from None
        if stream is None:
            stream = current(device) if current is not None and device >= 0 else 0
        kept: list[object] = []
        if exported:
            capturing = self._is_capturing(stream)
            for index in exported:
                key[index], owner = read_slowly(self._params[index], arguments[index], stream, capturing)
                kept.append(owner)
        return key, stream, kept

    def _is_capturing(self, stream: int) -> bool:
        return self._cuda.current_device() is not None and self._cuda.is_capturing(stream)

    def _prepare(
        self, arguments: Sequence[Any], key: Sequence[Any], stream: int, dims: Dims
    ) -> Launch | Nothing:
        """Checks a call that is new and makes its launch."""
        if self._closed:
            raise LaunchError("the kernel is closed; load it again")
        tensors: list[tuple[TensorParam, Facts]] = []
        scalars: dict[str, Number] = {}
        for param, value, facts in zip(self._params, arguments, key, strict=True):
            if isinstance(param, TensorParam):
                check_place(param, facts, value)
                tensors.append((param, facts))
            else:
                scalars[param.name] = number(param.name, param.dtype, value)
        where = self._device_of(tensors, stream)
        with self._cuda.on(where):
            device = self._devices.ready(where, stream)
            self._check_stream(stream, where)
            binding = self._bind(tensors, scalars, dims, device)
            if binding.empty:
                return NOTHING
            pointers = {param.name: facts.pointer for param, facts in tensors}
            for param, facts in tensors:
                if 0 not in binding.laid[param.name].shape:
                    check_address(param, facts.pointer)
            zeroed: list[tuple[Block, int]] = []
            for tensor, size in zip(self._signature.workspace, binding.workspace_bytes, strict=True):
                block = self._workspaces.block(tensor, size, where, stream)
                pointers[tensor.name] = block.pointer
                if tensor.zero == "every_launch" and size:
                    zeroed.append((block, size))
            mapped = self._mapped(binding, tensors, pointers, zeroed, stream)
            counter = 0 if self._counters is None else self._counters.of_stream(where, stream)
            return Launch(
                cuda=self._cuda,
                device=where,
                stream=stream,
                function=self._function,
                config=self._config(binding, stream),
                parameters=self._parameters(binding, pointers, mapped, scalars, counter),
                workspaces=self._workspaces,
                zeroed=tuple(zeroed),
                counters=self._counters,
                counter=self._counter,
            )

    def _device_of(self, tensors: Sequence[tuple[TensorParam, Facts]], stream: int) -> int:
        found: dict[int, str] = {}
        for param, facts in tensors:
            device = facts.device
            if device == ASK_DRIVER:
                # A tensor without elements may be without memory, and is then nowhere in particular.
                if facts.pointer == 0:
                    continue
                answer = self._cuda.pointer_device(facts.pointer)
                if answer is None:
                    raise LaunchError(host_sentence(param.name, "in host memory"))
                device = answer
            found.setdefault(device, param.name)
        if len(found) > 1:
            places = " and ".join(f"`{name}` is on GPU {device}" for device, name in found.items())
            raise LaunchError(f"{places}; all arguments of a call must be on one GPU")
        if found:
            return next(iter(found))
        of_stream = self._cuda.stream_device(stream) if stream > PER_THREAD_STREAM else None
        return self._current_device() if of_stream is None else of_stream

    def _check_stream(self, stream: int, device: int) -> None:
        if stream > PER_THREAD_STREAM:
            other = self._cuda.stream_device(stream)
            if other is not None and other != device:
                raise LaunchError(
                    f"`stream` is of GPU {other} and the tensors are on GPU {device}; pass a stream of theirs"
                )

    def _bind(
        self,
        tensors: Sequence[tuple[TensorParam, Facts]],
        scalars: Mapping[str, Number],
        dims: Dims,
        device: Device,
    ) -> Binding:
        known = {param.name: int(scalars[param.name]) for param in self._params if _in_expressions(param)}
        key: Hashable = (
            tuple((facts.shape, facts.strides, facts.dtype) for _, facts in tensors),
            tuple(known.values()),
            dims,
            device.number,
        )
        binding = self._bindings.get(key)
        if binding is None:
            binding = bind(self._signature, tensors, dict(dims), {**known, **device.names})
            self._bindings.put(key, binding)
        return binding

    def _config(self, binding: Binding, stream: int) -> Any:
        manifest = self.manifest
        return self._cuda.launch_config(
            binding.grid, manifest.block, manifest.cluster, manifest.smem_bytes, stream, manifest.pdl
        )

    def _mapped(
        self,
        binding: Binding,
        tensors: Sequence[tuple[TensorParam, Facts]],
        pointers: Mapping[str, int],
        zeroed: list[tuple[Block, int]],
        stream: int,
    ) -> Mapped:
        """The tensors that maps are made of: memory of the loader's in place of those without elements."""
        laid, places = dict(binding.laid), dict(pointers)
        written = {param.name for param, _ in tensors if param.written}
        for name, laid[name] in self._maps.empty(binding.laid).items():
            # Loads find zeros in it. What is stored to it is gone by the next launch.
            zero = "every_launch" if name in written else "once"
            tensor = WorkspaceTensor(f"{name} (empty)", DTYPES["u8"], (), zero)
            block = self._workspaces.block(tensor, STAND_IN_BYTES, self._current_device(), stream)
            places[name] = block.pointer
            if name in written:
                zeroed.append((block, STAND_IN_BYTES))
        return places, laid

    def _parameters(
        self,
        binding: Binding,
        pointers: Mapping[str, int],
        mapped: Mapped,
        scalars: Mapping[str, Number],
        counter: int,
    ) -> Parameters:
        values = [
            self._value(slot, pointers, mapped, scalars, counter) if packed is None else packed
            for slot, packed in zip(self._signature.slots, binding.packed, strict=True)
        ]
        return Parameters(self._signature.slots, self._signature.argument_bytes, values)

    def _value(
        self,
        slot: Slot,
        pointers: Mapping[str, int],
        mapped: Mapped,
        scalars: Mapping[str, Number],
        counter: int,
    ) -> bytes:
        argument = slot.argument
        match argument:
            case PointerArgument(name):
                return _address(pointers[name])
            case CounterArgument():
                return _address(counter)
            case TensorMapArgument(index):
                return self._maps.encoded(index, *mapped)
            case ScalarArgument(name, kind):
                return packed_or_refused(f"`{name}`", kind, scalars[name])
        raise LaunchError(
            f"the manifest has an argument of kind `{type(argument).__name__}` that follows from nothing"
        )


def _in_expressions(param: object) -> bool:
    return isinstance(param, ScalarParam) and param.in_expressions


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
