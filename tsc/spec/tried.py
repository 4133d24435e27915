"""What `tune.try` sets, held against the spec: every key has a place there, and a value to be tried."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tsc.diagnostics.model import Finding, Place
from tsc.model import shorten
from tsc.source.route import Route
from tsc.spec.document import Tune
from tsc.spec.overrides import Define, Overrides, Setting, apply, read_route
from tsc.spec.wording import actual

RULE = "misfit-try"


def mistaken_tries(tune: Tune, data: object) -> Iterator[Finding]:
    """Yield a finding for each key of `try` that sets nothing, and for each value that it cannot have."""
    for key, values in tune.try_.items():
        route: Route = ("tune", "try", key)
        if not values:
            message = f"nothing is tried for `{shorten(key)}`, so the space has no point"
            yield Finding(RULE, message, Place(route), help="write the values, or leave the key out")
        for index, value in enumerate(values):
            found = list(_of_value(key, value, data))
            for finding in found:
                # An unknown key is one mistake, however many values it has.
                of_key = not finding.place.route
                place = Place(route, "key") if of_key else Place((*route, index))
                yield Finding(RULE, finding.message, place, help=finding.help)
            if any(not finding.place.route for finding in found):
                break


def _of_value(key: str, value: Any, data: object) -> Iterator[Finding]:
    """Yield what is wrong with one value; a place without a route stands for the key."""
    route, end = read_route(key)
    if not route or end != len(key):
        message = f"`{shorten(key)}` is neither the name of a constant nor a route"
        yield Finding(RULE, message, Place(()), help="write a route as in `resources.ring.stages`")
        return
    written = str(value).lower() if isinstance(value, bool) else str(value)
    option = shorten(f"{key}: {written}")
    constant = isinstance(data, dict) and key in (data.get("constants") or {})
    if key.isidentifier() and isinstance(value, int):
        changes = Overrides((Define(key, value, option),))
    elif constant:
        message = f"a constant is an integer, `true` or `false`, and this is {actual(value)}"
        yield Finding(RULE, message, Place(("constants", key)), help="write one of them")
        return
    else:
        changes = Overrides(settings=(Setting(route, value, option),))
    for finding in apply(data, changes)[1]:
        of_dim = finding.place.route[:1] == ("dims",) and key.isidentifier()
        yield Finding(RULE, finding.message, Place(("dims", key) if of_dim else ()), help=finding.help)
