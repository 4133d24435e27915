"""A spec without a mistake, edits of it, and findings as lines that say rule, place, message and help."""

from __future__ import annotations

from collections.abc import Iterable

from tsc.diagnostics.model import Finding
from tsc.source import Document, parse
from tsc.spec.document import Spec
from tsc.spec.load import to_spec
from tsc.spec.overrides import parse_overrides

BASE = """\
tsc: 1
kernel: scale
target: sm_90a
constants: {ROWS: 64, STAGES: 4}
params:
  x: {dtype: bf16, shape: [m, n]}
  y: {dtype: bf16, shape: [m, n]}
dims: {n: {multiple_of: 8, max: 4096}}
resources:
  tiles: {kind: queue, policy: static, axes: {row: m_tiles, column: n_tiles}}
  ring: {kind: smem, stages: STAGES, dtype: bf16, shape: [ROWS, 64]}
let: {m_tiles: 'cdiv(m, ROWS)', n_tiles: 'cdiv(n, 64)'}
tasks:
  load:
    warps: 1
    schedule:
      - work_tile_loop: tiles
        body:
          - acquire: ring
          - {tma_load: x, at: [tile.row * ROWS, tile.column * 64], to: ring}
          - commit: ring
  store:
    warps: 1
    schedule:
      - work_tile_loop: tiles
        body:
          - wait: ring
          - {tma_store: y, at: [tile.row * ROWS, tile.column * 64], from: ring}
          - store_wait: 0
          - release: ring
"""


def edited(*edits: tuple[str, str]) -> str:
    """Give the spec with each `old` replaced by its `new`, once."""
    text = BASE
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def document(text: str, language: str = "yaml") -> Document:
    """Read a text that the reader takes."""
    reading = parse(text, f"spec.tsc.{language}", language)
    assert reading.document is not None, reading.findings
    return reading.document


def load(
    text: str, defines: Iterable[str] = (), settings: Iterable[str] = (), language: str = "yaml"
) -> tuple[Spec | None, list[str]]:
    """Load a text with what a call changes in it; findings come as lines."""
    read = document(text, language)
    spec, findings = to_spec(read, parse_overrides(defines, settings))
    return spec, [shown(finding, read) for finding in findings]


def shown(finding: Finding, read: Document) -> str:
    """Give a finding as `line:column "source" rule: message; help`."""
    span = read.span_of(finding.place)
    source = read.text[span.start.offset : span.end.offset].partition("\n")[0]
    help = f"; {finding.help}" if finding.help else ""
    return f"{span.start.line}:{span.start.column} {source!r} {finding.rule}: {finding.message}{help}"
