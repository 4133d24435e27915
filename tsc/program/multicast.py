"""Which CTAs of a cluster fill each other's stages, by loads that several of them receive and by copies from
one to another.

What barriers count, where arrivals go and what is proved about both follows from `reached` and `fillers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

Extents = Sequence[tuple[str, int]]
"""The axes of a cluster and the CTAs along them, that along which ranks run fastest first."""


MOST = 16
"""No cluster has more CTAs; of a larger one, which a rule refuses, so many are looked at."""


@dataclass(frozen=True, slots=True, order=True)
class Shared:
    """Loads that all CTAs along an axis receive: each of them loads a part, or, `led`, the first one all.

    Where there is `sent`, copies instead: the CTA at place i along the axis sends to the one at `sent[i]`.
    """

    axis: str
    led: bool
    sent: tuple[int, ...] = ()


def place(extents: Extents, rank: int, axis: str) -> int:
    """Return where a CTA stands along an axis; 0 where it is alone."""
    for name, extent in extents:
        if name == axis:
            return rank % extent
        rank //= extent
    return 0


def stride(extents: Extents, axis: str) -> tuple[int, int]:
    """Return the CTAs along an axis and how far their ranks are apart."""
    step = 1
    for name, extent in extents:
        if name == axis:
            return extent, step
        step *= extent
    return 1, 1


def along(extents: Extents, rank: int, axis: str) -> tuple[int, ...]:
    """Return the CTAs that differ from this one in their place along an axis at most, itself included."""
    extent, step = stride(extents, axis)
    first = rank - place(extents, rank, axis) * step
    return tuple(first + i * step for i in range(min(extent, MOST)))


def ranks(extents: Extents) -> range:
    """Return the CTAs of a cluster."""
    return range(min(prod(extent for _, extent in extents), MOST))


def reached(shared: Iterable[Shared], extents: Extents, rank: int) -> tuple[int, ...]:
    """Return the CTAs whose stages loads of this one fill, itself included: who reads them lets it go on."""
    found = {rank}
    for one in shared:
        own, peers = place(extents, rank, one.axis), along(extents, rank, one.axis)
        if one.sent:
            found |= {peers[to] for to in one.sent[own : own + 1] if to < len(peers)}
        elif not one.led or own == 0:
            found |= set(peers)
    return tuple(sorted(found))


def tellers(ctas: Iterable[int], group: int) -> int:
    """Return how many tell that CTAs have read what was filled: each or, where `group` is 2, each pair.

    Pairs lie along the axis along which ranks run fastest.
    """
    return len({rank // group for rank in ctas})


def fillers(shared: Iterable[Shared], extents: Extents, rank: int) -> tuple[int, ...]:
    """Return the CTAs whose loads fill stages of this one, itself included: who reads here tells them."""
    found = {rank}
    for one in shared:
        own, peers = place(extents, rank, one.axis), along(extents, rank, one.axis)
        if one.sent:
            found |= {peer for peer, to in zip(peers, one.sent, strict=False) if to == own}
        else:
            found |= {peers[0]} if one.led else set(peers)
    return tuple(sorted(found))
