"""A resolved program as a system of agents: what the generated code does at every barrier and byte.

What is modelled: one agent for each task instance and CTA (two where one thread waits or arrives for the
others of its task), with the four counters of each ring; the full and empty barriers as the generated code
sets them up, groups, lanes, several producers and consumers, `released_by: one` with `skip`, `observe`, `by`,
`keep`; loads by TMA and bulk copies, those shared by a cluster included; `cp_async`, stores, `wgmma` and
`tcgen05` as engines; the fences and syncs that the generator puts in, and no others; shared and tensor memory
by their bytes, overlays included; registers that `wgmma` works on; the answers of a dynamic queue; turns,
named barriers, `pdl_wait`.

What is not: values, and whether a read finds the round it means; order between CTAs other than those of a
cluster; two params that lie on the same memory; parts of a buffer (each access means all of it, but for
shares of a shared load); order among threads of one task, where the generator derives the syncs. Of global
memory only tensors are followed that a task or engine writes and another reads (`tensors.py` says how).
"""

from __future__ import annotations

from tsc.prove.translate.system import translate
from tsc.prove.translate.translation import AgentSource, BarrierSource, Bytes, SegmentSource, Translation

__all__ = ["AgentSource", "BarrierSource", "Bytes", "SegmentSource", "Translation", "translate"]
