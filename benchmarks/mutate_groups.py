"""Values that are tried in the specs whose rings share a barrier: faults of the shared step and of its rings.

A group asks for one step on it and one on each of its rings, in places that are easily mistaken: a ring of
the group instead of the group, the group instead of a ring, one ring waited for and the other one read.
"""

from __future__ import annotations

from typing import Any

from benchmarks.mutate import Path

Values = dict[Path, tuple[Any, ...]]


def body(task: str, *places: int | str) -> Path:
    """Return where a step of a task's loop over tiles stands, or what is in it."""
    return ("tasks", task, "schedule", 0, "body", *places)


def guarded(*guards: str, **step: Any) -> tuple[Any, ...]:
    """Return a step under each of some conditions."""
    return tuple({"when": guard, "then": [step]} for guard in guards)


SIZES: Values = {
    ("constants", "STAGES"): (1, 2, 6, 7, 8),
    ("constants", "STORES"): (0, 1, 5, 11, 12, 13),
    ("resources", "tiles", "policy"): ("grid", "atomic"),
}

MERGE: Values = {
    **SIZES,
    ("resources", "both", "kind"): ("fork",),
    ("resources", "both", "of"): (["b_ring", "a_ring"], ["a_ring"]),
    ("resources", "a_ring", "stages"): (1, "STAGES + 1"),
    ("resources", "a_ring", "released_by"): ("one",),
    ("resources", "b_ring", "over"): ("a_ring", {"of": "a_ring", "stage": 1}),
    ("resources", "both", "empty_arrivals"): (2,),
    ("tasks", "load_a", "warps"): (2,),
    ("tasks", "load_b", "replicas"): (2,),
    ("tasks", "store", "replicas"): (2,),
    ("tasks", "store", "warps"): (2,),
    body("load_a", 0): ({"acquire": "b_ring"}, {"acquire": "both"}),
    body("load_a", 1, "to"): ("b_ring",),
    body("load_a", 2): (
        {"commit": "b_ring"},
        {"commit": "both"},
        *guarded("tile.seq % 2 == 0", "tile.n >= 0", commit="a_ring"),
    ),
    body("store", 0): ({"wait": "b_ring"}, {"wait": "both"}, {"try_wait": "a_ring"}),
    body("store", 1, "from"): ("b_ring",),
    body("store", 2): (
        {"wait": "a_ring"},
        {"wait": "both", "observe": True},
        *guarded("tile.seq % 2 == 0", "tile.n >= 0", wait="b_ring"),
    ),
    body("store", 4): ({"try_wait": "a_ring"}, {"try_wait": "b_ring"}, {"wait": "both", "observe": True}),
    body("store", 5): (
        {"store_wait": "STORES"},
        {"store_wait": "2 * STORES - 2"},
        {"store_wait": "2 * STORES + 2"},
        *guarded("tile.seq % 2 == 1", "tile.seq >= STORES", store_wait="2 * STORES"),
    ),
    body("store", 6): (
        {"release": "a_ring", "keep": "STORES"},
        {"release": "b_ring", "keep": "STORES"},
        {"release": "both"},
        *guarded("tile.seq % 2 == 1", "tile.seq >= STORES", "tile.n > 0", release="both", keep="STORES"),
        *guarded("tile.seq % 6 == 5", "tile.seq % 7 == 6", release="both", keep="STORES"),
    ),
    ("tasks", "store", "schedule", 1): ({"store_wait": 0, "until": "written"}, {"store_wait": "STORES"}),
    ("tasks", "store", "schedule", 2): ({"release": "a_ring"}, {"release": "b_ring"}),
}
"""For two loaders whose rings one task gives back at once."""

FORK: Values = {
    **SIZES,
    ("resources", "both", "kind"): ("merge",),
    ("resources", "both", "of"): (["z_ring", "y_ring"], ["y_ring"]),
    ("resources", "z_ring", "stages"): (1, "STAGES + 1"),
    ("resources", "z_ring", "released_by"): ("one",),
    ("resources", "z_ring", "over"): ("y_ring", {"of": "y_ring", "stage": 1}),
    ("resources", "both", "full_arrivals"): (2,),
    ("tasks", "load", "warps"): (2,),
    ("tasks", "load", "replicas"): (2,),
    ("tasks", "store_y", "replicas"): (2,),
    ("tasks", "store_z", "warps"): (2,),
    body("load", 0): ({"acquire": "both"}, {"try_acquire": "y_ring"}),
    body("load", 1): (
        {"acquire": "y_ring"},
        *guarded("tile.seq % 2 == 0", "tile.n >= 0", acquire="z_ring"),
    ),
    body("load", 2, "to"): ("z_ring",),
    body("load", 3, "to"): ("y_ring",),
    body("load", 4): (
        {"commit": "y_ring"},
        {"commit": "z_ring"},
        {"commit": "both", "keep": 1},
        *guarded("tile.seq % 2 == 1", "tile.seq > 0", "tile.n >= 0", commit="both"),
    ),
    body("store_y", 0): (
        {"wait": "z_ring"},
        {"wait": "both"},
        {"wait": "both", "observe": True},
        {"try_wait": "y_ring"},
        *guarded("tile.seq % 2 == 0", "tile.n >= 0", wait="y_ring"),
    ),
    body("store_y", 1, "from"): ("z_ring",),
    body("store_y", 2): (
        {"store_wait": "2 * STORES"},
        *guarded("tile.seq % 2 == 1", "tile.seq >= STORES", store_wait="STORES"),
    ),
    body("store_z", 3): (
        {"release": "y_ring", "keep": "STORES"},
        {"release": "both", "keep": "STORES"},
        *guarded("tile.seq % 2 == 1", "tile.seq >= STORES", "tile.n > 0", release="z_ring", keep="STORES"),
        *guarded("tile.seq % 6 == 5", "tile.seq % 7 == 6", release="z_ring", keep="STORES"),
    ),
    ("tasks", "store_z", "schedule", 1): ({"store_wait": 0, "until": "written"}, {"store_wait": "STORES"}),
    ("tasks", "store_z", "schedule", 2): ({"release": "y_ring"}, {"release": "both"}),
}
"""For one loader whose rings two tasks store from."""
