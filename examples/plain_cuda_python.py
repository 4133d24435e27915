"""Launch a cubin of tsc with cuda-python alone: `python plain_cuda_python.py KERNEL.cubin [FACTS.json]`.

For the cubins of specs/copy/bulk.tsc.yaml and specs/copy/tma.tsc.yaml, which copy `x` to `y`.
FACTS.json is what `tsc inspect KERNEL.cubin --format json` prints; without it `tsc inspect` is asked.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from cuda.bindings import driver

# Ragged sizes; for TMA a row is a multiple of 16 bytes.
SIZES = {"bulk_copy": {"n": 1_000_003}, "tma_copy": {"m": 1_000, "n": 1_016}}
BYTES = {"u8": 1, "bf16": 2}
MAP_TYPES = {
    "u8": driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_UINT8,
    "bf16": driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
}
INTEGERS = {"i32": ctypes.c_int32, "u32": ctypes.c_uint32, "i64": ctypes.c_int64, "u64": ctypes.c_uint64}
MAP_BYTES = 128


def ok(outcome: tuple[Any, ...]) -> Any:
    """Return what a call of the driver gives, its status taken off; RuntimeError for a failed one."""
    status, *rest = outcome
    if status != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(status.name)
    return rest[0] if rest else None


def evaluate(text: str, known: dict[str, int]) -> int:
    """Return the value of an expression of the manifest: Python's syntax, with functions of its own."""
    language = {"min": min, "max": max, "abs": abs, "true": True, "false": False}
    language |= {"cdiv": lambda a, b: -(-a // b), "align": lambda a, b: -(-a // b) * b}
    return int(eval(text, {"__builtins__": {}, **language, **known}))


def dense(shape: list[int]) -> list[int]:
    """Return the strides of a row-major tensor, in elements."""
    return [math.prod(shape[dim + 1 :]) for dim in range(len(shape))]


def tensor_map(facts: dict[str, Any], param: dict[str, Any], shape: list[int], pointer: int) -> bytes:
    """Encode a tensor map: the driver counts from the contiguous dimension, the manifest from the slowest."""
    inward = list(reversed(param["order"]))
    pitches = [dense(shape)[dim] * BYTES[param["dtype"]] for dim in inward[1:]] or [16]
    swizzle = f"{facts['swizzle']}B" if facts["swizzle"] else "NONE"
    promotion = f"L2_{facts['l2']}B" if facts["l2"] else "NONE"
    fill = "NAN_REQUEST_ZERO_FMA" if facts["fill"] == "nan" else "NONE"
    encoded = ok(
        driver.cuTensorMapEncodeTiled(
            MAP_TYPES[param["dtype"]],
            len(shape),
            pointer,
            [driver.cuuint64_t(shape[dim]) for dim in inward],
            [driver.cuuint64_t(pitch) for pitch in pitches],  # bytes; the contiguous dimension has none
            [driver.cuuint32_t(extent) for extent in reversed(facts["box"])],
            [driver.cuuint32_t(1)] * len(shape),
            driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            getattr(driver.CUtensorMapSwizzle, f"CU_TENSOR_MAP_SWIZZLE_{swizzle}"),
            getattr(driver.CUtensorMapL2promotion, f"CU_TENSOR_MAP_L2_PROMOTION_{promotion}"),
            getattr(driver.CUtensorMapFloatOOBfill, f"CU_TENSOR_MAP_FLOAT_OOB_FILL_{fill}"),
        )
    )
    return ctypes.string_at(encoded.getPtr(), MAP_BYTES)


def argument(facts: dict[str, Any], index: int, known: dict[str, int], at: dict[str, int]) -> bytes:
    """Return the bytes of one kernel parameter; `at` has the address of each tensor."""
    entry = facts["arguments"][index]
    params = {param["name"]: param for param in facts["params"]}
    shapes = {name: [evaluate(e, known) for e in param["shape"]] for name, param in params.items()}
    match entry["kind"]:
        case "pointer":
            return bytes(ctypes.c_uint64(at[entry["tensor"]]))
        case "tensor_map":
            described = facts["tensor_maps"][entry["map"]]
            name = described["tensor"]
            return tensor_map(described, params[name], shapes[name], at[name])
        case "stride":
            return bytes(INTEGERS[entry["type"]](dense(shapes[entry["tensor"]])[entry["dim"]]))
        case "value":
            return bytes(INTEGERS[entry["type"]](evaluate(entry["expr"], known)))
    raise RuntimeError(f"an argument of kind `{entry['kind']}`, which the copies do not have")


def launch(
    facts: dict[str, Any], kernel: Any, stream: Any, values: list[bytes], known: dict[str, int]
) -> None:
    """Enqueue the kernel; the driver has copied the parameters when this returns."""
    storage, addresses = [], []
    for value in values:
        room = ctypes.create_string_buffer(len(value) + MAP_BYTES)
        start = ctypes.addressof(room)
        address = start + -start % MAP_BYTES  # a tensor map lies at a multiple of 64 bytes
        ctypes.memmove(address, value, len(value))
        storage.append(room)
        addresses.append(address)
    pointers = (ctypes.c_void_p * len(addresses))(*addresses)
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = (evaluate(text, known) for text in facts["grid"])
    config.blockDimX, config.blockDimY, config.blockDimZ = facts["block"]
    config.sharedMemBytes = facts["smem_bytes"]
    config.hStream = stream
    attributes = []
    if facts["cluster"] != [1, 1, 1]:
        attribute = driver.CUlaunchAttribute()
        attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        cluster = attribute.value.clusterDim
        cluster.x, cluster.y, cluster.z = facts["cluster"]
        attributes.append(attribute)
    config.attrs = attributes
    config.numAttrs = len(attributes)
    ok(driver.cuLaunchKernelEx(config, driver.CUfunction(int(kernel)), ctypes.addressof(pointers), 0))


def main(cubin: str, facts_file: str | None = None) -> None:
    """Copy random bytes with the kernel and compare."""
    command = [sys.executable, "-m", "tsc", "inspect", cubin, "--format", "json"]
    text = Path(facts_file).read_text() if facts_file else subprocess.check_output(command, text=True)
    facts = json.loads(text)

    ok(driver.cuInit(0))
    device = ok(driver.cuDeviceGet(0))
    ok(driver.cuCtxSetCurrent(ok(driver.cuDevicePrimaryCtxRetain(device))))
    library = ok(driver.cuLibraryLoadData(Path(cubin).read_bytes(), [], [], 0, [], [], 0))
    kernel = ok(driver.cuLibraryGetKernel(library, facts["kernel"].encode()))
    shared = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    ok(driver.cuKernelSetAttribute(shared, facts["smem_bytes"], kernel, device))  # needed above 48 KiB

    multiprocessors = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
    known = {**facts["constants"], **SIZES[facts["kernel"]]}
    known["sms"] = ok(driver.cuDeviceGetAttribute(multiprocessors, device))
    x = facts["params"][0]
    size = math.prod(evaluate(extent, known) for extent in x["shape"]) * BYTES[x["dtype"]]
    source, copied = os.urandom(size), ctypes.create_string_buffer(size)
    at = {param["name"]: int(ok(driver.cuMemAlloc(size))) for param in facts["params"]}
    ok(driver.cuMemcpyHtoD(at["x"], source, size))
    ok(driver.cuMemsetD8(at["y"], 0, size))

    stream = ok(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
    ok(driver.cuCtxSynchronize())  # the copy above is not ordered before this stream
    values = [argument(facts, index, known, at) for index in range(len(facts["arguments"]))]
    launch(facts, kernel, stream, values, known)
    ok(driver.cuStreamSynchronize(stream))

    ok(driver.cuMemcpyDtoH(ctypes.addressof(copied), at["y"], size))
    ok(driver.cuStreamDestroy(stream))
    for pointer in at.values():
        ok(driver.cuMemFree(pointer))
    ok(driver.cuLibraryUnload(library))
    ok(driver.cuDevicePrimaryCtxRelease(device))
    if copied.raw != source:
        raise SystemExit(f"`{facts['kernel']}` did not copy {size:,} B")
    print(f"OK: {facts['kernel']} copied {size:,} B")


if __name__ == "__main__":
    main(*sys.argv[1:])
