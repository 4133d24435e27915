"""The driver's error codes as sentences: what the code means, and what most likely brought it about."""

from __future__ import annotations

_GONE = "CUDA cannot be used in this process any more; run it under `compute-sanitizer` to find the kernel"
_EARLIER = "launches are asynchronous, so an earlier kernel of this process may be the cause"

MEANINGS = {
    "CUDA_ERROR_INVALID_VALUE": "the driver refuses one of the launch facts",
    "CUDA_ERROR_OUT_OF_MEMORY": "the GPU has too little free memory",
    "CUDA_ERROR_NOT_INITIALIZED": "CUDA is not set up in this process, as in one forked after CUDA was used; "
    "start it with `spawn` instead of `fork`",
    "CUDA_ERROR_DEINITIALIZED": "the driver is shutting down, as it does while Python exits",
    "CUDA_ERROR_STUB_LIBRARY": "the `libcuda` found is the toolkit's stub, not a driver; take the toolkit's "
    "`stubs` "
    "folder out of `LD_LIBRARY_PATH`",
    "CUDA_ERROR_DEVICE_UNAVAILABLE": "another process holds the GPU exclusively",
    "CUDA_ERROR_NO_DEVICE": "there is a driver but no GPU that this process may use; look at `nvidia-smi` "
    "and at "
    "`CUDA_VISIBLE_DEVICES`",
    "CUDA_ERROR_INVALID_DEVICE": "there is no GPU of that number",
    "CUDA_ERROR_INVALID_IMAGE": "the driver cannot read the cubin; it is damaged, or newer than the driver",
    "CUDA_ERROR_INVALID_CONTEXT": "the thread's CUDA context is not usable; it was destroyed or never made",
    "CUDA_ERROR_NO_BINARY_FOR_GPU": "the cubin holds no code for this GPU; build it with `--arch` for this "
    "one",
    "CUDA_ERROR_ECC_UNCORRECTABLE": f"the GPU's memory has an error that cannot be corrected, and {_GONE}",
    "CUDA_ERROR_INVALID_HANDLE": "a handle is not known to the driver; the stream was destroyed, or belongs "
    "to "
    "another GPU",
    "CUDA_ERROR_NOT_FOUND": "the cubin lacks the kernel that its manifest names",
    "CUDA_ERROR_ILLEGAL_ADDRESS": f"a kernel reads or writes outside its memory; {_EARLIER}, and {_GONE}",
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": "one CTA needs more registers, threads or shared memory than the "
    "GPU has",
    "CUDA_ERROR_LAUNCH_TIMEOUT": f"a kernel runs longer than the display's watchdog allows; {_EARLIER}, and "
    f"{_GONE}",
    "CUDA_ERROR_CONTEXT_IS_DESTROYED": "the thread's CUDA context is destroyed",
    "CUDA_ERROR_ASSERT": f"a device-side assert fails; {_EARLIER}, and {_GONE}",
    "CUDA_ERROR_HARDWARE_STACK_ERROR": f"a kernel breaks its call stack; {_EARLIER}, and {_GONE}",
    "CUDA_ERROR_ILLEGAL_INSTRUCTION": f"a kernel runs an instruction that the GPU refuses; {_EARLIER}, and "
    f"{_GONE}",
    "CUDA_ERROR_MISALIGNED_ADDRESS": f"a kernel reads or writes a misaligned address; {_EARLIER}, and "
    f"{_GONE}",
    "CUDA_ERROR_INVALID_ADDRESS_SPACE": f"a kernel uses an address of the wrong kind; {_EARLIER}, and "
    f"{_GONE}",
    "CUDA_ERROR_INVALID_PC": f"a kernel jumps out of its code; {_EARLIER}, and {_GONE}",
    "CUDA_ERROR_LAUNCH_FAILED": f"a kernel ends with an exception; {_EARLIER}, and {_GONE}",
    "CUDA_ERROR_SYSTEM_NOT_READY": "the GPUs of this machine are not ready; its fabric manager may not be "
    "running",
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": "the driver's library and kernel module differ in version; restart "
    "the "
    "machine after a driver update",
    "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE": "the compatibility driver in use does not support this GPU",
    "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED": "a graph capture is under way that forbids this operation; call "
    "the "
    "kernel once before the capture",
    "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED": "an earlier error has spoilt the graph capture; end it and "
    "begin again",
    "CUDA_ERROR_STREAM_CAPTURE_ISOLATION": "the launch would tie two separate graph captures together",
    "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT": "a graph capture is under way and the launch goes to the default "
    "stream; "
    "pass the capturing stream as `stream`",
    "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD": "the graph capture was begun by another thread",
    "CUDA_ERROR_INVALID_CLUSTER_SIZE": "the GPU cannot place a cluster of this size with this much shared "
    "memory",
    "CUDA_ERROR_NOT_SUPPORTED": "this GPU or driver does not have the operation",
    "CUDA_ERROR_OPERATING_SYSTEM": "the operating system refuses what the driver asks of it",
    "CUDA_ERROR_UNKNOWN": "the driver says no more than that; a new process, then a restart of the machine "
    "may help",
}


def sentence(code: object, doing: str) -> str:
    """One sentence for a failed call; `code` is a `CUresult`, `doing` what the driver was asked to do."""
    name = getattr(code, "name", None) or f"error {code}"
    meaning = MEANINGS.get(name)
    return f"the driver fails to {doing} with {name}" + (f": {meaning}" if meaning else "")
