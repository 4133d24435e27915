"""Copies from one CTA of a cluster to another: what is printed, and that it compiles for both targets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.codegen.machine_code import disassembled, words
from tests.emit.kernels import cuda, document, document_of, program_of
from tsc.program.multicast import Shared, fillers, reached
from tsc.toolchain.build import compile_source

RING = Shared("m", False, (1, 2, 3, 0))
SWAP = Shared("m", False, (3, 2, 1, 0))
WIDE = (("n", 2), ("m", 4))


@pytest.mark.parametrize("extents", [(("m", 4),), WIDE, (("m", 4), ("n", 2))])
@pytest.mark.parametrize("sent", [(RING,), (SWAP,), (RING, SWAP), (RING, Shared("n", True))])
def test_who_is_told_is_who_counts(sent: tuple[Shared, ...], extents: tuple[tuple[str, int], ...]) -> None:
    ranks = range(8 if len(extents) == 2 else 4)
    for one in ranks:
        assert one in fillers(sent, extents, one)
        for other in ranks:
            assert (other in reached(sent, extents, one)) == (one in fillers(sent, extents, other))


def test_each_sends_to_one() -> None:
    assert [reached((RING,), WIDE, rank) for rank in range(8)] == [
        (0, 2), (1, 3), (2, 4), (3, 5), (4, 6), (5, 7), (0, 6), (1, 7)
    ]  # fmt: skip
    assert fillers((SWAP,), (("m", 4),), 1) == (1, 2)


def test_the_text_of_a_copy() -> None:
    text = cuda(document_of("sent"), headers=False)
    # The bytes that come are announced at the own barrier, those that go are counted at the other one.
    assert re.search(
        r"mbarrier_arrive_expect\(there_full \+ 8 \* there_write.stage, 8192\);\s+"
        r"cluster_copy\(cluster_address\(there \+ there_write.stage \* THERE_STAGE, peer\), left, 8192,\s+"
        r"cluster_address\(there_full \+ 8 \* there_write.stage, peer\)\);",
        text,
    )
    assert "const u32 peer = (cluster_cta + 2) % CTAS;" in text
    # A CTA hears of the stage of the one that it sends to, and of its own: ranks 0 and 2, or 1 and 3.
    assert (
        "const u32 there_peers = cluster_cta == 0 ? 5 : cluster_cta == 1 ? 10 : cluster_cta == 2 ? 5 : 10;"
        in text
    )
    # The others of the task are told that the copy before has been read, and are done before the next begins.
    assert len(re.findall(r"task\.sync\(\);\s+fill_left", text)) == 1
    assert len(re.findall(r"fence_proxy_async\(\);\s+task\.sync\(\);\s+const u32 peer", text)) == 2
    assert "cluster_sync_relaxed();" in text


def test_what_comes_is_counted() -> None:
    pipeline = program_of(document_of("sent")).pipelines["there", 0]
    assert (pipeline.tx_bytes, pipeline.full_arrivals, pipeline.empty_arrivals) == (16 * 128 * 4, 1, 2 * 2)
    assert (pipeline.kind, pipeline.multicast) == ("TmaAsync", ("cta",))


@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a"])
def test_it_compiles(arch: str) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    text = (document_of("sent").text).replace("target: sm_90a", f"target: {arch}")
    built = compile_source(cuda(document(text)), {}, arch)
    assert built.diagnostics == ()
    assert (built.usage.spill_stores, built.usage.stack_bytes) == (0, 0)


def test_split_products_in_machine_code(tmp_path: Path) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    spec = Path(__file__).resolve().parents[2] / "specs" / "gemm" / "hopper_splitk_cluster.tsc.yaml"
    built = compile_source(cuda(document(spec.read_text(encoding="utf-8"))), {}, "sm_90a")
    text = disassembled(built.cubin, tmp_path)
    # A slice to each of three other CTAs, in one copy between shared memories each.
    assert text.count("UBLKCP.S.S") == 3
    found = words(text)
    assert (found.count("HGMMA"), found.count("UTMASTG")) == (4, 1)
    # Nothing adds up in global memory, and nothing is spilled.
    assert not {"RED", "REDG", "ATOM", "ATOMG", "UTMAREDG", "LDL", "STL"} & set(found)
