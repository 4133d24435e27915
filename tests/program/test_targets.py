"""The architectures and their limits."""

from __future__ import annotations

import pytest

from tsc.program.target import find_target, known_targets


@pytest.mark.parametrize(
    ("arch", "hopper", "blackwell", "columns"),
    [
        ("sm_90", True, False, 0),
        ("sm_90a", True, False, 0),
        ("sm_100a", False, True, 512),
        ("sm_103", False, True, 512),
    ],
)
def test_known(arch: str, hopper: bool, blackwell: bool, columns: int) -> None:
    target = find_target(arch)
    assert target is not None and arch in known_targets()
    assert (target.hopper, target.blackwell, target.tmem_columns) == (hopper, blackwell, columns)
    assert (target.smem_bytes, target.registers, target.warps) == (232_448, 65_536, 32)
    assert target.suffix == ("a" if arch.endswith("a") else "")


@pytest.mark.parametrize("arch", ["sm_80", "sm_90b", "sm_100f", "90a", "sm_90a ", "", "sm_", "sm_9000"])
def test_unknown(arch: str) -> None:
    assert find_target(arch) is None


def test_all_known_are_found() -> None:
    assert [target.arch for arch in known_targets() if (target := find_target(arch))] == list(known_targets())
