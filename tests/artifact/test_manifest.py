"""The manifest: out of a cubin, into types and back, and every way in which it can be wrong."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tsc.artifact.manifest import (
    ArtifactError,
    PointerArgument,
    Tensor,
    TensorMapArgument,
    decode_manifest,
    read_manifest,
    to_c_array,
    to_json,
)


def encoded(sample: object) -> bytes:
    return json.dumps(sample).encode()


def test_a_cubin_gives_its_manifest_back(cubin: bytes, sample: dict[str, object]) -> None:
    manifest = read_manifest(cubin)
    assert manifest == decode_manifest(encoded(sample))
    assert manifest.kernel == "tma_copy"
    assert manifest.arguments[:2] == (TensorMapArgument(0), PointerArgument("y"))
    assert [tensor.name for tensor in manifest.tensors] == ["x", "y"]
    assert [scalar.name for scalar in manifest.scalars] == ["eps"]
    assert manifest.dims["n"].multiple_of == 8
    first = manifest.params[0]
    assert isinstance(first, Tensor) and first.shape == ("m", "n")


def test_what_lies_over_nothing_need_not_say_so(sample: dict[str, object]) -> None:
    regions = cast("list[dict[str, object]]", sample["layout"])
    del regions[0]["over"]
    assert [region.over for region in decode_manifest(encoded(sample)).layout] == ["", "stage 1 of ring"]


def test_json_is_one_ascii_line_and_the_same_data(sample: dict[str, object]) -> None:
    sample["spec"] = "größe\n\u2028\U0001f600.yaml"
    text = to_json(decode_manifest(encoded(sample)))
    assert text.isascii() and "\n" not in text
    assert json.loads(text) == sample
    assert list(json.loads(text)) == list(sample)
    assert to_json(decode_manifest(text.encode())) == text


def test_a_tensor_says_whether_its_rows_are_padded(sample: dict[str, Any]) -> None:
    x, y = decode_manifest(encoded(sample)).tensors
    assert (x.padded, y.padded) == (True, False)
    del sample["params"][0]["padded"]
    assert not decode_manifest(encoded(sample)).tensors[0].padded


def test_a_dim_says_whether_the_kernel_runs_with_it_at_zero(sample: dict[str, object]) -> None:
    of = decode_manifest(encoded(sample)).dims
    assert (of["m"].runs_at_zero, of["n"].runs_at_zero) == (True, False)
    sample["dims"] = {
        "m": {"min": 0, "max": 1, "multiple_of": 1},
        "n": {"min": 0, "max": 1, "multiple_of": 1},
    }
    assert not decode_manifest(encoded(sample)).dims["m"].runs_at_zero


def test_an_unknown_key_is_overlooked(sample: dict[str, object]) -> None:
    known = decode_manifest(encoded(sample))
    assert decode_manifest(encoded({**sample, "later": [1]})) == known


def test_a_newer_manifest_names_who_built_it(sample: dict[str, object]) -> None:
    sample |= {"manifest": 2, "tsc_version": "3.1.4", "params": "moved elsewhere"}
    with pytest.raises(ArtifactError) as error:
        decode_manifest(encoded(sample))
    assert str(error.value) == (
        "the cubin's manifest has version 2 (built by tsc `3.1.4`), and this tsc reads up to version 1: "
        "upgrade with `pip install -U tsc-cuda`"
    )


def test_a_cubin_of_another_tool_is_named() -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    from tsc.toolchain.nvrtc import compile_cuda

    other = compile_cuda('extern "C" __global__ void k(int *p) { p[0] = 1; }', arch="sm_90a").cubin
    with pytest.raises(ArtifactError, match="was not built by tsc: it has no manifest"):
        read_manifest(other)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"kernel": "gone"}, "`kernel` is `gone`, and the cubin has `tma_copy`"),
        ({"arch": "sm_100a"}, "`arch` is `sm_100a`, and the code is for `sm_90a`"),
    ],
)
def test_a_manifest_of_other_code_is_refused(
    cubin: bytes, sample: dict[str, object], change: dict[str, object], sentence: str
) -> None:
    (key,) = change
    before, after = (json.dumps({key: table[key]})[1:-1].encode() for table in (sample, change))
    text = encoded(sample)
    swapped = text.replace(before, after)
    # The text keeps its length, because the symbol's size stands elsewhere in the file.
    slack = len(swapped) - len(text)
    spec = b'"tma.tsc.yaml"'
    swapped = swapped.replace(spec, b'"' + b"s" * (len(spec) - 2 - slack) + b'"')
    assert text in cubin and len(swapped) == len(text)
    with pytest.raises(ArtifactError) as error:
        read_manifest(cubin.replace(text, swapped))
    assert str(error.value) == f"the cubin's manifest is damaged: {sentence}"


DELETE = object()


def changed(sample: Any, route: tuple[str | int, ...], value: object) -> Any:
    place = sample
    for step in route[:-1]:
        place = place[step]
    if value is DELETE:
        del place[route[-1]]
    else:
        place[route[-1]] = value
    return sample


@pytest.mark.parametrize(
    ("route", "value", "sentence"),
    [
        (("kernel",), DELETE, "`kernel` is missing"),
        (("kernel",), 3, "`kernel` is `3`, not a string"),
        (("manifest",), True, "`manifest` is `true`, not an integer"),
        (("manifest",), 0, "`manifest` is 0, and the first version is 1"),
        (("pdl",), 1, "`pdl` is `1`, not true or false"),
        (("grid",), ["1", "1"], "`grid` has 2 values, not 3"),
        (("block",), [96, 1], "`block` has 2 values, not 3"),
        (("block", 2), 64, "`block` has 6,144 threads, more than 1,024"),
        (("cluster", 0), 17, "`cluster[0]` is `17`, outside 1 to 16"),
        (("params",), {}, "`params` is `{}`, not a list"),
        (("params", 0), 1, "`params[0]` is `1`, not an object"),
        (("params", 0, "kind"), "ring", '`params[0].kind` is `"ring"`, not one of `"tensor"`, `"scalar"`'),
        (("params", 0, "order"), [0, 0], "`params[0].order` is `[0, 0]`, which is no order of 2 dimensions"),
        (("params", 1, "name"), "x", "`x` is declared 2 times"),
        (("params", 0, "shape", 0), "m +", '`x.shape[0]` is `"m +"`, which is no expression'),
        (("params", 0, "shape", 0), "k", "`x.shape[0]` names `k`, which the manifest does not declare"),
        (("dims", "m", "min"), 2**70, "`dims.m.min` is `1180591620717411303424`, outside"),
        (("constants", "ROWS"), None, "`constants.ROWS` is `null`, not a number, a string or a boolean"),
        (("constants", "ROWS"), 2**64, "`constants.ROWS` does not fit in 64 bits"),
        (("arguments", 0, "map"), 1, "`arguments[0].map` is 1, and there are 1 tensor maps"),
        (("arguments", 1, "tensor"), "z", "`arguments[1].tensor` names `z`, which the manifest"),
        (("arguments", 3, "dim"), 2, "`arguments[3].dim` is 2, and `x` has 2 dimensions"),
        (("arguments", 3, "type"), "i128", '`arguments[3].type` is `"i128"`, not one of'),
        (("arguments", 5, "param"), "x", "`arguments[5].param` names `x`, which the manifest"),
        (("tensor_maps", 0, "box"), [64], "`tensor_maps[0].box` has 1 extents for 2 dimensions"),
        (("tensor_maps", 0, "swizzle"), False, "`tensor_maps[0].swizzle` is `false`, not one of `0`, `32`"),
        (("layout", 0, "offset"), -1, "`layout[0].offset` is `-1`, outside 0 to 4,294,967,295"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_route(
    sample: dict[str, object], route: tuple[str | int, ...], value: object, sentence: str
) -> None:
    with pytest.raises(ArtifactError) as error:
        decode_manifest(encoded(changed(sample, route, value)))
    assert str(error.value).startswith(f"the cubin's manifest is damaged: {sentence}")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"{", "it is not JSON"),
        (b"[1]", "the whole is `[1]`, not an object"),
        (b'{"manifest": 1, "manifest": 1}', "a key is given twice"),
        (b'{"manifest": NaN}', "NaN is no JSON number"),
        (b'{"manifest": ' + b"9" * 5000 + b"}", "it is not JSON"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "it is nested too deeply"),
        (b"\xff", "it is not JSON"),
    ],
)
def test_what_is_not_json_is_said(text: bytes, reason: str) -> None:
    with pytest.raises(ArtifactError) as error:
        decode_manifest(text)
    assert reason in str(error.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def routes(value: object, prefix: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [prefix] if prefix else []
    if isinstance(value, dict):
        found += [route for key, one in value.items() for route in routes(one, (*prefix, key))]
    if isinstance(value, list):
        found += [route for index, one in enumerate(value) for route in routes(one, (*prefix, index))]
    return found


@settings(max_examples=300)
@given(data=st.data())
def test_no_value_anywhere_can_break_the_reader(sample_text: str, data: st.DataObject) -> None:
    sample = json.loads(sample_text)
    route = data.draw(st.sampled_from(routes(sample)))
    value = data.draw(st.one_of(st.just(DELETE), JSON))
    with contextlib.suppress(ArtifactError):
        manifest = decode_manifest(encoded(changed(sample, route, value)))
        assert decode_manifest(to_json(manifest).encode()) == manifest


def _literal_bytes(text: str) -> bytes:
    """What a C++ compiler makes of the array, by compiling it."""
    from tsc.artifact.elf import read_cubin
    from tsc.toolchain.nvrtc import compile_cuda

    source = to_c_array(text) + 'extern "C" __global__ void k(int *p) { p[0] = 1; }'
    compiled = read_cubin(compile_cuda(source, arch="sm_90a").cubin).bytes_of("tsc_manifest")
    assert compiled is not None
    return compiled


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "\\"quoted\\" \\\\ and \\n"}',
        "??=??/ ??( trigraphs ???",
        "%d \\x41 \\0 '/* no comment */ // none",
        "größe 日本\t\r\n\x7f1",
        "\\" * 333 + '"' * 333,
        json.dumps({f"key{index}": "v" * 50 for index in range(3000)}),
    ],
    ids=["quotes", "trigraphs", "escapes", "bytes", "boundaries", "large"],
)
def test_cpp_reads_exactly_the_text(text: str) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    assert _literal_bytes(text) == text.encode() + b"\0"


def test_the_array_has_short_ascii_lines(sample: dict[str, object], golden: Callable[..., None]) -> None:
    array = to_c_array(to_json(decode_manifest(encoded(sample))))
    assert array.isascii()
    assert max(len(line) for line in array.splitlines()) <= 110
    golden(array, ".cu")
