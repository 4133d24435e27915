"""The GEMM kernels that tests build and run: shipped specs, and what is set for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Settings = Mapping[str, int | str]

WIDE: Settings = {"BM": 256, "BN": 128, "EN": 32, "CLUSTER_M": 1, "CLUSTER_N": 2}
LARGE: Settings = {"BM": 256, "BN": 192, "STAGES": 3, "EN": 32, "OUT_STAGES": 3, "REGISTERS": 240}
NARROW: Settings = {"BM": 64, "BN": 128, "WARPS": 4, "STAGES": 8}
SMALL: Settings = {"BM": 64, "BN": 64, "WARPS": 4, "STAGES": 12, "CLUSTER_M": 1, "CLUSTER_N": 2}
UNEVEN: Settings = {
    "BM": 256,
    "BN": 152,
    "EN": 32,
    "OUT_STAGES": 1,
    "REGISTERS": 240,
    "CLUSTER_M": 1,
    "CLUSTER_N": 2,
}
THREE: Settings = {"BM": 192, "BN": 160, "WARPS": 12, "REGISTERS": 152, "EN": 64, "OUT_STAGES": 1}
FOUR: Settings = {"CLUSTER_M": 2, "CLUSTER_N": 2}


@dataclass(frozen=True, slots=True)
class Gemm:
    """A kernel: its spec below specs/gemm, its tile and stages, and what is set."""

    spec: str
    bm: int
    bn: int
    bk: int = 64
    stages: int = 4
    settings: Settings = field(default_factory=dict)

    def __str__(self) -> str:
        return "-".join([self.spec, *(f"{name}{value}" for name, value in self.settings.items())])

    @property
    def path(self) -> str:
        """The spec, as the fixture `kernel` takes it."""
        return f"gemm/{self.spec}"


def _of(spec: str, settings: Settings, bm: int = 128, bn: int = 256, bk: int = 64, stages: int = 4) -> Gemm:
    given = {name: int(value) for name, value in settings.items() if isinstance(value, int)}
    return Gemm(spec, given.get("BM", bm), given.get("BN", bn), bk, given.get("STAGES", stages), settings)


PLAIN = [
    *(_of("hopper_bf16", it) for it in ({}, WIDE, LARGE, NARROW, SMALL, UNEVEN, THREE, FOUR)),
    *(_of("hopper_bf16", it) for it in ({"CLUSTER_M": 1}, {"PDL": "true"}, {"DEPTH": 0})),
    _of("hopper_bf16_simple", {}),
    _of("hopper_bf16_pingpong", {}, bn=192, stages=5),
    _of("hopper_bf16_pingpong", {"BN": 160, "CLUSTER_M": 1, "CLUSTER_N": 2}, stages=5),
    _of("hopper_bf16_pingpong", {"BN": 128, "STAGES": 6, "EN": 64, "PDL": "true"}),
    _of("hopper_splitk", {}, bn=128, stages=6),
    _of(
        "hopper_splitk",
        {"BM": 64, "BN": 64, "WARPS": 4, "SPLITS": 3, "CLUSTER_M": 1, "CLUSTER_N": 2},
        stages=6,
    ),
    _of("hopper_splitk_reduce", {}, bn=128, stages=5),
    _of("hopper_splitk_reduce", {**SMALL, "STAGES": 5, "SPLITS": 3, "PDL": "true"}),
    _of("hopper_splitk_cluster", {}, bn=128, stages=5),
    _of("hopper_splitk_cluster", {"SPLITS": 8, "SN": 16}, bn=128, stages=5),
    _of("hopper_splitk_cluster", {"SPLITS": 7, "SN": 24, "STAGES": 4, "PDL": "true"}, bn=128),
    _of("hopper_splitk_cluster", {"BN": 80, "SN": 24, "CLUSTER_M": 2}, stages=5),
    _of("hopper_bf16_swapped", {}, bm=16, bn=64, stages=10),
    _of("hopper_bf16_swapped", {"BM": 64, "BN": 128, "WARPS": 8, "STAGES": 4, "CLUSTER_N": 2}),
    _of("hopper_bf16_swapped", {"BM": 8, "PDL": "true"}, bn=64, stages=10),
    _of("hopper_bf16_unaligned", {}, bn=192, stages=5),
]
"""d = a b^T in bf16."""

BATCHED = [_of("hopper_batched", {}), _of("hopper_batched", {"BN": 128, "STAGES": 6})]
GELU = [_of("hopper_bias_gelu", {})]
FP8 = [_of("hopper_fp8", {}, bk=128), _of("hopper_fp8", WIDE, bk=128)]
BLOCKWISE = [_of("hopper_fp8_blockwise", {}, bn=128, bk=128, stages=5)]

ALL = [*PLAIN, *BATCHED, *GELU, *FP8, *BLOCKWISE]
