"""Types of pipeline, arrivals and transaction bytes, as they follow from the operations."""

from __future__ import annotations

import pytest

from tests.program.build import HEAD, pipe, program

RING = """
params: {{x: {{dtype: bf16, shape: [m, 64]}}, y: {{dtype: bf16, shape: [m, 64]}}}}
launch: {{grid: [1]}}
resources:
  ring: {{kind: smem, stages: 3, dtype: bf16, shape: [64, 64]}}
  acc: {{kind: registers, dtype: f32, shape: [64, 64]}}
work:
  fill: {{writes: [ring], cuda: "ring(0, 0) = 0;"}}
  read: {{reads: [ring], cuda: "use(ring(0, 0));"}}
tasks:
  producer: {{warps: {fillers}, schedule: [{{acquire: ring}}, {fill}, {{commit: ring}}]}}
  consumer: {{warps: {readers}, schedule: [{{wait: ring}}, {read}, {{release: ring}}]}}
"""
TMA = "{tma_load: x, to: ring}"
CP = "{cp_async: x, to: ring}"
FILL = "{do: fill}"
READ = "{do: read}"
STORE = "{tma_store: y, from: ring}"
WGMMA = "{wgmma: acc, a: ring, b: ring}"


@pytest.mark.parametrize(
    ("fill", "fillers", "read", "readers", "kind", "full", "empty", "bytes"),
    [
        (TMA, 1, READ, 4, "TmaAsync", 1, 4, 8192),
        (TMA, 4, READ, 1, "TmaAsync", 1, 1, 8192),
        (TMA, 1, STORE, 1, "TmaAsync", 1, 1, 8192),
        (TMA, 1, STORE, 4, "TmaAsync", 1, 1, 8192),
        (TMA, 1, WGMMA, 4, "TmaAsync", 1, 1, 8192),
        (TMA, 1, WGMMA, 8, "TmaAsync", 1, 2, 8192),
        (TMA, 1, f"{WGMMA}, {READ}", 8, "TmaAsync", 1, 8, 8192),
        (f"{TMA}, {TMA}", 1, READ, 4, "TmaAsync", 1, 4, 16384),
        (CP, 4, READ, 2, "AsyncAsync", 128, 2, 0),
        (FILL, 4, READ, 2, "AsyncAsync", 4, 2, 0),
        (f"{FILL}, {CP}", 2, READ, 2, "AsyncAsync", 64, 2, 0),
        (f"{TMA}, {FILL}", 2, READ, 2, "TmaAsync", 2, 2, 8192),
    ],
)
def test_ring(
    fill: str, fillers: int, read: str, readers: int, kind: str, full: int, empty: int, bytes: int
) -> None:
    text = RING.format(fill=fill, fillers=fillers, read=read, readers=readers)
    ring = pipe(program(text), "ring")
    assert (ring.kind, ring.full_arrivals, ring.empty_arrivals, ring.tx_bytes) == (kind, full, empty, bytes)
    assert (ring.producers, ring.consumers, ring.stages) == (("producer",), ("consumer",), 3)


BLACKWELL = """
params: {a: {dtype: bf16, shape: [m, 64]}, b: {dtype: bf16, shape: [n, 64]}, y: {dtype: f32, shape: [m, n]}}
launch: %s
resources:
  ab:
    kind: smem
    stages: 2
    buffers: {a: {dtype: bf16, shape: [128, 64]}, b: {dtype: bf16, shape: [128, 64]}}
  acc: {kind: tmem, stages: 2, dtype: f32, shape: [128, 128]}
  v: {kind: registers, dtype: f32, shape: [128, 128]}
tasks:
  load:
    warps: 1
    schedule: [{acquire: ab}, {tma_load: a, to: ab.a}, {tma_load: b, to: ab.b}, {commit: ab}]
  mma:
    warps: 1
    schedule:
      - wait: ab
      - acquire: acc
      - {tcgen05_mma: acc, a: ab.a, b: ab.b, accumulate: false}
      - release: ab
      - commit: acc
  drain: {warps: 4, schedule: [{wait: acc}, {tcgen05_ld: v, from: acc}, {release: acc}, {store: y, from: v}]}
"""


@pytest.mark.parametrize(
    ("launch", "pair"), [("{grid: [1]}", 1), ("{cluster: {x: 2}, cta_group: 2, grid: [2]}", 2)]
)
def test_tensor_core(launch: str, pair: int) -> None:
    found = program(BLACKWELL % launch, head=HEAD.replace("sm_90a", "sm_100a"))
    operands, sums = pipe(found, "ab"), pipe(found, "acc")
    assert (operands.kind, operands.full_arrivals, operands.empty_arrivals) == ("TmaUmma", 1, 1)
    assert operands.tx_bytes == 2 * 128 * 64 * 2 * pair
    assert (sums.kind, sums.full_arrivals, sums.empty_arrivals, sums.tx_bytes) == (
        "UmmaAsync",
        1,
        4 * pair,
        0,
    )


def test_store_ring_has_no_barrier() -> None:
    found = program(
        """
        params: {y: {dtype: f32, shape: [1024]}}
        launch: {grid: [1]}
        resources: {out: {kind: smem, stages: 2, dtype: f32, shape: [1024]}}
        work: {fill: {writes: [out], cuda: out(0) = 1;}}
        tasks:
          t: {warps: 4, schedule: [{acquire: out}, {do: fill}, {commit: out}, {bulk_store: y, from: out}]}
        """
    )
    assert (pipe(found, "out").kind, pipe(found, "out").full_offset) == ("AsyncStore", None)
    assert found.smem_bytes == 2 * 4096


@pytest.mark.parametrize(
    ("read", "kind"),
    [
        ("{bulk_store: y, from: out}", "AsyncStore"),
        ("{bulk_store: y, from: out}, {do: look}", "AsyncAsync"),
        ("{do: look}", "AsyncAsync"),
    ],
)
def test_store_ring_is_read_by_the_engine_alone(read: str, kind: str) -> None:
    found = program(
        f"""
        params: {{y: {{dtype: f32, shape: [1024]}}}}
        launch: {{grid: [1]}}
        resources: {{out: {{kind: smem, stages: 2, dtype: f32, shape: [1024]}}}}
        work:
          fill: {{updates: [out], cuda: out(0) += 1;}}
          look: {{reads: [out], cuda: use(out(0));}}
        tasks:
          t: {{warps: 4, schedule: [{{acquire: out}}, {{do: fill}}, {{commit: out}}, {read}]}}
        """
    )
    assert pipe(found, "out").kind == kind


SHARED = """
params: {{x: {{dtype: f32, shape: [4096]}}, y: {{dtype: f32, shape: [4096]}}}}
launch: {{grid: [1]}}
resources:
  xs: {{kind: smem, stages: 4, {options} dtype: f32, shape: [1024]}}
work:
  read: {{reads: [xs], cuda: use(xs(0));}}
tasks:
  load: {{warps: 1, replicas: 2, schedule: [{{acquire: xs}}, {{bulk_load: x, to: xs}}, {{commit: xs}}]}}
  add: {{warps: 4, replicas: 3, schedule: [{{wait: xs}}, {{do: read}}, {{release: xs}}]}}
  look: {{warps: 2, schedule: [{{wait: xs, observe: true}}, {{do: read}}]}}
"""


@pytest.mark.parametrize(
    ("options", "full", "empty"),
    [
        ("", 2, 12),
        ("released_by: one,", 2, 4),
        ("interleave: {producer: 2, consumer: 3},", 1, 4),
        ("interleave: {consumer: 3},", 2, 4),
    ],
)
def test_arrivals_are_summed_over_tasks(options: str, full: int, empty: int) -> None:
    ring = pipe(program(SHARED.format(options=options)), "xs")
    assert (ring.full_arrivals, ring.empty_arrivals) == (full, empty)
    assert (ring.producers, ring.observers) == (("load[0]", "load[1]"), ("look",))
    assert ring.consumers == ("add[0]", "add[1]", "add[2]")


def test_copies_are_rings_of_their_own() -> None:
    found = program(
        """
        params: {x: {dtype: f32, shape: [4096]}}
        launch: {grid: [1]}
        resources: {xs: {kind: smem, per: add, stages: 2, dtype: f32, shape: [1024]}}
        work: {read: {reads: [xs], cuda: use(xs(0));}}
        tasks:
          load:
            warps: 1
            schedule:
              - repeat: 2
                as: i
                body: [{acquire: "xs[i]"}, {bulk_load: x, to: "xs[i]"}, {commit: "xs[i]"}]
          add: {warps: 4, replicas: 2, schedule: [{wait: xs}, {do: read}, {release: xs}]}
        """
    )
    for copy in range(2):
        ring = pipe(found, "xs", copy)
        assert (ring.producers, ring.consumers, ring.tx_bytes) == (("load",), (f"add[{copy}]",), 4096)


@pytest.mark.parametrize("kind", ["merge", "fork"])
def test_group_of_copies_means_the_copy_of_its_task(kind: str) -> None:
    found = program(
        f"""
        params: {{x: {{dtype: f32, shape: [4096]}}}}
        launch: {{grid: [1]}}
        resources:
          xs: {{kind: smem, per: add, stages: 2, dtype: f32, shape: [1024]}}
          ws: {{kind: smem, per: add, stages: 2, dtype: f32, shape: [1024]}}
          both: {{kind: {kind}, of: [xs, ws]}}
        tasks:
          load: {{warps: 1, schedule: [{{commit: "both[1]"}}]}}
          add: {{warps: 4, replicas: 2, schedule: [{{release: both}}]}}
        """
    )
    for name in ("xs", "ws"):
        assert pipe(found, name, 0).producers == ()
        assert pipe(found, name, 1).producers == ("load",)
        assert [pipe(found, name, copy).consumers for copy in range(2)] == [("add[0]",), ("add[1]",)]


@pytest.mark.parametrize(
    ("axes", "multicast", "peers"), [("{r: 2}", "r", 2), ("{r: 4}", "r", 4), ("{r: 2, c: 2}", "r", 2)]
)
def test_multicast_reaches_the_readers_of_all_its_ctas(axes: str, multicast: str, peers: int) -> None:
    found = program(
        f"""
        params: {{x: {{dtype: bf16, shape: [m, 64]}}}}
        launch: {{cluster: {axes}}}
        resources:
          tiles: {{kind: queue, policy: grid, axes: {{r: m, c: m}}}}
          ring: {{kind: smem, stages: 3, dtype: bf16, shape: [64, 64]}}
        work: {{read: {{reads: [ring], cuda: "use(ring(0, 0));"}}}}
        tasks:
          load:
            warps: 1
            schedule:
              - work_tile_loop: tiles
                body: [{{acquire: ring}}, {{tma_load: x, to: ring, multicast: {multicast}}}, {{commit: ring}}]
          add:
            warps: 4
            schedule: [{{work_tile_loop: tiles, body: [{{wait: ring}}, {{do: read}}, {{release: ring}}]}}]
        """
    )
    ring = pipe(found, "ring")
    assert (ring.full_arrivals, ring.empty_arrivals, ring.tx_bytes) == (1, 4 * peers, 8192)
    assert ring.multicast == (multicast,)


@pytest.mark.parametrize(
    ("body", "bytes"),
    [
        ("[{acquire: xs}, {bulk_load: x, to: xs}, {commit: xs}]", 4096),
        ("[{acquire: xs}, {bulk_load: x, to: xs}, {bulk_load: x, to: xs}, {commit: xs}]", 8192),
        ("[{acquire: xs}, {when: n > 1, then: [{bulk_load: x, to: xs}]}, {commit: xs}]", None),
        ("[{acquire: xs}, {bulk_load: x, to: xs, rows: n}, {commit: xs}]", None),
        ("[{acquire: xs}, {acquire: xs}, {bulk_load: x, to: xs}, {commit: xs}]", None),
        ("[{repeat: 2, as: i, body: [{acquire: xs}, {bulk_load: x, to: xs}, {commit: xs}]}]", 4096),
    ],
)
def test_bytes_are_of_one_stage(body: str, bytes: int | None) -> None:
    found = program(
        f"""
        params: {{x: {{dtype: f32, shape: [n]}}}}
        launch: {{grid: [1]}}
        resources: {{xs: {{kind: smem, stages: 2, dtype: f32, shape: [1024]}}}}
        tasks:
          load: {{warps: 1, schedule: {body}}}
          add: {{warps: 1, schedule: [{{wait: xs}}, {{release: xs}}]}}
        """
    )
    assert pipe(found, "xs").tx_bytes == bytes
