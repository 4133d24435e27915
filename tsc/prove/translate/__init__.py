"""A resolved program as a system of agents: what the generated code does at every barrier and byte."""

from __future__ import annotations

from tsc.prove.translate.system import translate
from tsc.prove.translate.translation import AgentSource, BarrierSource, Bytes, SegmentSource, Translation

__all__ = ["AgentSource", "BarrierSource", "Bytes", "SegmentSource", "Translation", "translate"]
