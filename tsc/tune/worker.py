"""The process in which `tsc tune` runs kernels: it keeps the buffers of one case. See `tsc.bench.watch`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tsc.bench import race
from tsc.bench.gpu import Graph
from tsc.bench.session import REFUSALS, Bout, Session, WrongResult
from tsc.bench.watch import Message, serve
from tsc.verify.plan import from_json

Say = Callable[[Message], None]

FEW = 4
"""Launches of a graph while many points are still in the race."""


class Tuner:
    """Answers requests: what GPU this is, and races of some points on one case."""

    def __init__(self) -> None:
        self._session: Session | None = None
        self._bout: Bout | None = None
        self._about: Any = None
        self._checked: dict[str, float | None] = {}
        self._graphs: dict[tuple[str, int], Graph] = {}

    def answer(self, request: Message, say: Say) -> None:
        """Say `facts`, or `seconds` (by point, in turns), and `failed` for each point that is no good."""
        try:
            if self._session is None:
                self._session = Session()
            if "points" not in request:
                say({"facts": self._session.facts})
                return
            self._prepare(self._session, request, say)
        except REFUSALS as error:
            say({"error": str(error)})
            return
        ready = [self._ready(point, request, say) for point in request["points"]]
        racing = [one for one in ready if one is not None]
        if racing:
            laps = race.settled(
                racing,
                self._session.clock,
                turns=request["turns"],
                block=request["block"],
                load=request["load"],
                at=lambda name: say({"at": name}),
            )
            say({"seconds": {name: lap.samples for name, lap in laps.items()}})

    def _prepare(self, session: Session, request: Message, say: Say) -> None:
        about = [request["plan"], request["case"]]
        if self._about == about:
            return
        # The old buffers go before the new ones come.
        self._bout, self._about = None, None
        self._checked.clear()
        self._graphs.clear()
        say({"at": "the buffers"})
        manifest = session.kernel(request["cubin"]).manifest
        self._bout = Bout(session, manifest, from_json(request["plan"]), request["case"])
        self._about = about

    def _ready(self, point: Message, request: Message, say: Say) -> Graph | None:
        """The contestant of a point, its result checked the first time; None if it is no good."""
        session, bout, name = self._session, self._bout, point["name"]
        if session is None or bout is None:
            return None
        say({"at": name})
        try:
            launch = bout.launcher(session.kernel(point["cubin"]))
            if name not in self._checked:
                self._checked[name] = bout.error(lambda: launch(0))
            launches = FEW if request["few"] else 0
            if (name, launches) not in self._graphs:
                self._graphs[name, launches] = session.graph(name, launch, bout.sets, launches)
        except (*REFUSALS, WrongResult) as error:
            say({"failed": name, "why": str(error)})
            return None
        return self._graphs[name, launches]


if __name__ == "__main__":
    serve(Tuner().answer)
