"""What each place of an expression sees, and until when its value must be known."""

from __future__ import annotations

import pytest

from tests.program.build import program
from tsc.program.names import dims_of, everywhere
from tsc.program.scope import Site, Stage
from tsc.source.route import show_route

SPEC = """
constants: {C: 4}
params:
  x: {dtype: f32, shape: [n, k + 1, C]}
  s: {dtype: i32}
workspace: {w: {dtype: f32, shape: [sms]}}
dims: {n: {min: C}}
let: {a: C + 1}
launch: {cluster: {m: 2}}
resources:
  tiles: {kind: queue, policy: static, axes: {m: n}, skip_if: tile.m > 2}
  ring: {kind: smem, stages: C, dtype: f32, shape: [a], expect: {bytes: 2}}
  many: {kind: smem, buffers: {b: {dtype: f32, shape: [C]}}}
  v: {kind: registers, dtype: i32, per_thread: 1}
  wide: {kind: registers, dtype: f32, per_thread: 1}
work: {f: {args: {p: const, q: i32}, returns: {r: i32}, reads: [x], cuda: r = p;}}
expect: {threads: 32}
assert: [n > 0]
tasks:
  main:
    warps: C
    replicas: 2
    registers: 24 + replica
    schedule:
      - {do: f, with: {p: C, q: n}, out: [early]}
      - work_tile_loop: tiles
        skip_if: tile.m == 3
        body:
          - domain_loop: k
            start: 1
            split_at: [2]
            body:
              - {for: loop, as: i, body: [{repeat: C, as: j, body: [{load: v, from: x, at: [i, j, part]}]}]}
              - {wait: ring}
              - {release: ring, keep: 1}
  other: {warps: 1, schedule: [task_sync]}
"""
PROGRAM = program(SPEC)
SITES = {show_route(site.route): site for site in PROGRAM.sites}
BODY = "tasks.main.schedule[1].body[0]"


def names(site: Site) -> set[str]:
    return set(site.scope)


@pytest.mark.parametrize(
    ("route", "allowed"),
    [
        ("resources.ring.stages", Stage.BUILD),
        ("resources.ring.shape[0]", Stage.BUILD),
        ("resources.ring.expect.bytes", Stage.BUILD),
        ("resources.many.buffers.b.shape[0]", Stage.BUILD),
        ("resources.tiles.axes.m", Stage.LAUNCH),
        ("resources.tiles.skip_if", Stage.TILE),
        ("params.x.shape[0]", Stage.LAUNCH),
        ("workspace.w.shape[0]", Stage.LAUNCH),
        ("dims.n.min", Stage.BUILD),
        ("launch.cluster.m", Stage.BUILD),
        ("assert[0]", Stage.LAUNCH),
        ("expect.threads", Stage.BUILD),
        ("tasks.main.warps", Stage.BUILD),
        ("tasks.main.schedule[0].with.p", Stage.BUILD),
        ("tasks.main.schedule[0].with.q", Stage.THREAD),
        ("tasks.main.schedule[1].skip_if", Stage.TILE),
        (f"{BODY}.domain_loop", Stage.THREAD),
        (f"{BODY}.split_at[0]", Stage.THREAD),
        (f"{BODY}.body[0].body[0].repeat", Stage.BUILD),
        (f"{BODY}.body[0].body[0].body[0].at[0]", Stage.THREAD),
        (f"{BODY}.body[2].keep", Stage.BUILD),
    ],
)
def test_until_when(route: str, allowed: Stage) -> None:
    assert SITES[route].allowed is allowed


@pytest.mark.parametrize(
    ("route", "seen", "unseen"),
    [
        ("resources.ring.stages", {"C", "a", "n", "sms"}, {"tile.m", "loop", "thread", "replica"}),
        ("resources.tiles.axes.m", {"n", "C"}, {"tile.m"}),
        ("resources.tiles.skip_if", {"tile.m", "tile.seq"}, {"loop", "thread"}),
        ("tasks.main.replicas", {"C"}, {"replica"}),
        ("tasks.main.registers", {"replica"}, {"tile.m", "early"}),
        ("tasks.main.schedule[0].with.q", {"replica", "v", "early", "threads"}, {"tile.m", "wide", "i"}),
        ("tasks.main.schedule[1].skip_if", {"tile.m"}, {"loop"}),
        (f"{BODY}.domain_loop", {"tile.m", "cluster.m"}, {"loop", "iter", "part"}),
        (f"{BODY}.body[0].for", {"loop", "iter", "trips", "part"}, {"i", "j"}),
        (f"{BODY}.body[0].body[0].repeat", {"i"}, {"j"}),
        (f"{BODY}.body[0].body[0].body[0].at[0]", {"i", "j", "loop", "part", "tile.m"}, set()),
        ("let.a", {"C", "tile.m", "loop", "thread", "v"}, {"early", "i"}),
    ],
)
def test_what_is_seen(route: str, seen: set[str], unseen: set[str]) -> None:
    assert seen <= names(SITES[route])
    assert not unseen & names(SITES[route])


def test_a_task_sees_no_token_of_another() -> None:
    others = [site for site in PROGRAM.sites if site.task == "other"]
    assert others and not any("early" in site.scope or "replica" in site.scope for site in others)


def test_dims_are_the_names_that_shapes_use() -> None:
    assert dims_of(PROGRAM.spec) == {"n": [("params", "x", "shape", 0)], "k": [("params", "x", "shape", 1)]}
    assert {"n", "k"} <= everywhere(PROGRAM.spec).keys()


def test_a_declared_name_is_no_dim() -> None:
    found = program(
        """
        constants: {n: 4}
        params: {s: {dtype: i32}, x: {dtype: f32, shape: [n, s, l, k]}}
        let: {l: 3}
        launch: {grid: [1]}
        resources: {}
        tasks: {t: {warps: 1, schedule: [task_sync]}}
        """
    )
    assert set(found.dims) == {"k"}


@pytest.mark.parametrize(
    ("major", "order"),
    [
        ("", (0, 1, 2)),
        ("major: a", (1, 2, 0)),
        ("major: 1", (0, 2, 1)),
        ("major: -1", (0, 1, 2)),
        ("major: c", (0, 1, 2)),
    ],
)
def test_order_of_dimensions(major: str, order: tuple[int, ...]) -> None:
    found = program(
        f"""
        params: {{x: {{dtype: f32, shape: [a, b, c], {major}}}}}
        launch: {{grid: [1]}}
        resources: {{}}
        tasks: {{t: {{warps: 1, schedule: [task_sync]}}}}
        """
    )
    assert found.tensors["x"].order == order
