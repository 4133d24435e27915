"""C++ names for what a spec names: the same name, unless a device header or something near by has it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tsc.emit.headers import global_names

# What CUDA itself puts everywhere, and the names of generated code's own helpers.
_CUDA = "threadIdx blockIdx blockDim gridDim warpSize printf"
_OWN = "shared shared_memory tensor task leader tile replica warp rank tsc_manifest Tile Tiles"
# Snippets call these, so that nothing of the spec's may stand before them.
_MATHS = (
    "abs max min exp exp2 expf exp2f log log2 logf log2f sqrt sqrtf rsqrt rsqrtf sin cos sinf cosf tanh "
    "tanhf erf erff fabs fabsf fmax fmaxf fmin fminf floor floorf ceil ceilf round pow powf"
)
_TAKEN = frozenset(f"{_CUDA} {_OWN} {_MATHS}".split())


class Names:
    """Hands out names; an inner scope avoids those of the outer ones."""

    def __init__(self, outer: Names | None = None, taken: Iterable[str] = ()) -> None:
        """`taken` are names that nobody may have."""
        self.outer = outer
        self.own: set[str] = set(taken)

    def known(self, name: str) -> bool:
        """Whether something here or outside has the name."""
        if name in self.own or name in global_names() or name in _TAKEN:
            return True
        return self.outer is not None and self.outer.known(name)

    def free(self, wanted: str) -> str:
        """Return a name like the wanted one that nothing has, and reserve it."""
        name = wanted
        number = 2
        while self.known(name):
            name = f"{wanted}_{number}"
            number += 1
        self.own.add(name)
        return name


def shout(name: str) -> str:
    """Return a name as that of a layout constant."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()


def identifier(text: str) -> str:
    """Return a text as a name."""
    return re.sub(r"\W+", "_", text).strip("_")
