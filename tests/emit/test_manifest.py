"""The manifest: what the loader is told to pass, to check and to make."""

from __future__ import annotations

from typing import Any

import pytest

from tests.emit.kernels import CASES, document, document_of, program_of, small
from tsc.emit import manifest
from tsc.program.resolve import resolve
from tsc.spec.load import to_spec
from tsc.spec.overrides import parse_overrides


def written(name: str) -> dict[str, Any]:
    document = document_of(name)
    return manifest(program_of(document), document=document)


def of(text: str) -> dict[str, Any]:
    return manifest(program_of(document(text)))


def test_arguments_come_maps_first_then_tensors_sizes_scalars() -> None:
    found = written("fused")
    assert found["arguments"] == [
        {"kind": "tensor_map", "map": 0},
        {"kind": "pointer", "tensor": "y"},
        {"kind": "stride", "tensor": "y", "dim": 0, "type": "i64"},
        {"kind": "value", "expr": "m", "type": "i32"},
        {"kind": "scalar", "param": "skip_x", "type": "i32"},
    ]


def test_maps_are_as_distinct_as_their_boxes() -> None:
    found = written("cut_rows")
    assert [(m["tensor"], m["box"]) for m in found["tensor_maps"]] == [
        ("x", [16, 64]),
        ("y", [16, 64]),
        ("y", [1, 64]),
    ]


def test_a_box_is_in_the_order_of_memory() -> None:
    (found,) = written("major")["tensor_maps"]
    assert (found["tensor"], found["box"]) == ("x", [32, 64])
    params = {param["name"]: param for param in written("major")["params"]}
    assert params["x"]["order"] == [1, 0]


def test_a_share_of_a_multicast_has_its_own_box() -> None:
    boxes = {m["tensor"]: m["box"] for m in written("multicast")["tensor_maps"]}
    assert boxes == {"x": [32, 64], "w": [32, 64], "v": [64]}
    assert written("multicast")["cluster"] == [4, 1, 1]


def test_needs_follow_from_the_uses() -> None:
    params = {param["name"]: param for param in written("multicast")["params"]}
    needs = {
        name: (param["access"], param["align"], param["stride_multiple"]) for name, param in params.items()
    }
    # y is written by single elements, the others go through tensor maps.
    assert needs == {"x": ("in", 16, 8), "w": ("in", 16, 8), "v": ("in", 16, 4), "y": ("out", 4, 1)}


SNIPPET = """
  main:
    warps: 1
    schedule:
      - do: move
"""


def test_a_snippets_wide_accesses_ask_for_alignment() -> None:
    work = """
params: {x: {dtype: bf16, shape: [m, n]}, y: {dtype: bf16, shape: [m, n]}, z: {dtype: bf16, shape: [m, n]}}
constants: {FOUR: 4}
work:
  move:
    reads: [x, y]
    writes: [z]
    cuda: |
      constexpr int many = 8;
      float v[8];
      x.load<FOUR>(v, 0, 0);   // y.load<2>(v, 0, 0)
      y.load<many>(v, 0, 0);
      z(0, 0) = v[0];
"""
    params = {param["name"]: param for param in of(small(SNIPPET, rest=work))["params"]}
    assert {name: (p["align"], p["stride_multiple"]) for name, p in params.items()} == {
        "x": (8, 4),
        "y": (16, 8),
        "z": (2, 1),
    }


BULK = """
  main:
    warps: 1
    schedule:
      - domain_loop: n // 64
        body:
          - acquire: ring
          - {bulk_load: x, at: [loop * 64 + n], to: ring, rows: "min(64, n)"}
          - commit: ring
          - wait: ring
          - release: ring
"""


def test_sixteen_bytes_that_hang_on_a_size_are_asserted() -> None:
    rest = "params: {x: {dtype: f32, shape: [n * 2]}}"
    found = of(
        small(
            BULK.replace("loop * 64 + n", "n"),
            "  ring: {kind: smem, stages: 2, dtype: f32, shape: [64]}",
            rest,
        )
    )
    assert found["asserts"] == [
        {"expr": "n % 4 == 0", "text": "`at` of `bulk_load` needs `n` to be a multiple of 4"}
    ]


def test_what_is_promised_is_not_asserted() -> None:
    rest = "params: {x: {dtype: f32, shape: [n * 2]}}\ndims: {n: {multiple_of: 4}}"
    found = of(
        small(
            BULK.replace("loop * 64 + n", "n"),
            "  ring: {kind: smem, stages: 2, dtype: f32, shape: [64]}",
            rest,
        )
    )
    assert found["asserts"] == []


def test_tiles_are_counted_with_32_bits() -> None:
    assert written("tiles")["asserts"] == [
        {"expr": "(a) * (b) * (c) <= 2147483647", "text": "there are at most 2,147,483,647 tiles"}
    ]
    assert written("varlen")["asserts"] == []


def test_shared_memory_is_laid_out_as_resolved() -> None:
    found = written("groups")
    program = program_of(document_of("groups"))
    assert found["smem_bytes"] == program.smem_bytes
    ends = [(r["offset"], r["offset"] + r["bytes"]) for r in found["layout"]]
    ends += [(b["offset"], b["offset"] + 8 * b["count"]) for b in found["barriers"]]
    assert all(first[1] <= second[0] for first, second in zip(sorted(ends), sorted(ends)[1:], strict=False))
    assert max(end for _, end in ends) == program.smem_bytes
    assert {b["name"]: b["arrivals"] for b in found["barriers"]} == {
        "xs.full": 1,
        "both.empty": 4,
        "rs.full": 1,
        "pair.full": 4,
        "ps.empty": 1,
        "qs.empty": 1,
    }


def test_a_change_of_the_spec_changes_the_hash() -> None:
    document_ = document_of("tiles")
    program = program_of(document_)
    other = document(document_.text + "\n# a word\n")
    assert (
        manifest(program, document=document_)["spec_sha256"]
        != manifest(program, document=other)["spec_sha256"]
    )
    assert manifest(program)["spec_sha256"] == manifest(program)["spec_sha256"]


def test_a_kernel_that_waits_for_the_one_before_says_so() -> None:
    assert written("budgets")["pdl"] is True
    assert written("tiles")["pdl"] is False


@pytest.mark.parametrize(
    ("defines", "settings", "same"),
    [
        ((), (), True),
        (("R=16",), (), True),
        (("R=32",), (), False),
        ((), ("resources.ring.stages=2",), False),
    ],
)
def test_the_hash_tells_what_was_set_from_outside(
    defines: tuple[str, ...], settings: tuple[str, ...], same: bool
) -> None:
    found = document_of("proxies")
    spec, findings = to_spec(found, parse_overrides(defines, settings))
    assert spec is not None, findings
    changed = manifest(resolve(spec, found.name, CASES), document=found)
    assert (changed["spec_sha256"] == written("proxies")["spec_sha256"]) is same
