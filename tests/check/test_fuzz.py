"""No text ends in an exception: specs with words exchanged and lines moved, through every rule."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.spec.base import BASE
from tsc.check import check_reading
from tsc.source import parse
from tsc.spec.overrides import Overrides

ROOT = Path(__file__).resolve().parents[2]
TEXTS = [BASE, *(path.read_text(encoding="utf-8") for path in sorted((ROOT / "specs").rglob("*.tsc.yaml")))]
WORD = re.compile(r"[A-Za-z_]\w*|\d+")
WORDS = sorted(
    {word for text in TEXTS for word in WORD.findall(text)} | {"0", "-1", "1000000", "math", "turn"}
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A spec with up to four words exchanged, or lines taken out, doubled or swapped."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        lines = text.split("\n")
        i, j = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(["word", "word", "word", "remove", "double", "swap"])):
            case "remove" if len(lines) > 1:
                del lines[i]
            case "double":
                lines.insert(j, lines[i])
            case "swap":
                lines[i], lines[j] = lines[j], lines[i]
            case _:
                places = list(WORD.finditer(text))
                if not places:
                    continue
                place = draw(st.sampled_from(places))
                text = text[: place.start()] + draw(st.sampled_from(WORDS)) + text[place.end() :]
                continue
        text = "\n".join(lines)
    return text


@settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow])
@given(texts())
def test_any_text(text: str) -> None:
    report = check_reading(parse(text, "spec.tsc.yaml", "yaml"), Overrides())
    assert (report.program is not None) or report.exit_code() == 1
    places = [(it.span.start, it.span.end) for it in report.diagnostics]
    assert places == sorted(places)
    for it in report.diagnostics:
        assert it.span.start.offset <= it.span.end.offset <= len(report.text)
        assert "\n" not in it.message
