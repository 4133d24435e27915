"""Device memory by the driver alone, for machines without PyTorch."""

from __future__ import annotations

from typing import Any, cast

from tsc.runtime.driver import connect
from tsc.runtime.errors import LaunchError
from tsc.runtime.faults import sentence


class DeviceMemory:
    """The first GPU's memory: bytes go there and come back."""

    def __init__(self) -> None:
        """Raises LoadError where there is no GPU."""
        self._driver = cast(Any, connect().driver)
        device = self._checked(self._driver.cuDeviceGet(0), "find the GPU")
        context = self._checked(self._driver.cuDevicePrimaryCtxRetain(device), "use the GPU")
        self._checked(self._driver.cuCtxSetCurrent(context), "use the GPU")
        name = self._checked(self._driver.cuDeviceGetName(256, device), "name the GPU")
        self.name = bytes(name).split(b"\0", 1)[0].decode()

    def _checked(self, outcome: tuple[Any, ...], doing: str) -> Any:
        if outcome[0]:
            raise LaunchError(sentence(outcome[0], doing))
        return outcome[1] if len(outcome) > 1 else None

    def allocate(self, size: int) -> int:
        """The address of so many bytes."""
        return int(self._checked(self._driver.cuMemAlloc(size), f"allocate {size:,} B"))

    def release(self, address: int) -> None:
        """Free what was allocated."""
        self._driver.cuMemFree(address)

    def send(self, address: int, host: Any) -> None:
        """Copy a NumPy array of bytes to the device."""
        self._checked(self._driver.cuMemcpyHtoD(address, host.ctypes.data, host.nbytes), "copy to the GPU")

    def fetch(self, address: int, host: Any) -> None:
        """Copy from the device into a NumPy array of bytes."""
        self._checked(self._driver.cuMemcpyDtoH(host.ctypes.data, address, host.nbytes), "copy from the GPU")

    def synchronize(self) -> None:
        """Wait until the device is idle."""
        self._checked(self._driver.cuCtxSynchronize(), "wait for the kernel")
