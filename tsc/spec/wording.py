"""How findings about a document name values, places and lists of words."""

from __future__ import annotations

from collections.abc import Iterable

from tsc.expr.hints import closest
from tsc.model import shorten
from tsc.source.route import Route

_LONGEST_GUESS = 80
SWITCHES = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}


def actual(value: object) -> str:
    """Say what a value of the document is."""
    match value:
        case None:
            return "nothing"
        case bool():
            return f"`{str(value).lower()}`"
        case int():
            return f"the number {value:,}"
        case float():
            return f"the number {value}"
        case str():
            return f"the text `{shorten(value)}`" if value.strip() else "an empty text"
        case list() | tuple():
            return "a list"
        case dict():
            return "a mapping"
    return f"a {type(value).__name__}"


def literal(value: object) -> str:
    """Write a scalar as a spec does."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def subject(route: Route) -> str:
    """Name the place that a route leads to: by its key, or as an entry of the list at that key."""
    if not route:
        return "a spec"
    *above, last = route
    if isinstance(last, str):
        return f"`{shorten(last)}`"
    name = next((part for part in reversed(above) if isinstance(part, str)), "")
    return f"entry {last + 1} of `{shorten(name)}`"


def series(words: Iterable[object], joint: str = "and") -> str:
    """Write words in backticks: `a`, `b` and `c`."""
    quoted = [f"`{literal(word)}`" for word in words]
    return f" {joint} ".join(filter(None, (", ".join(quoted[:-1]), *quoted[-1:])))


# Other languages' words for ours, which likeness alone would lead astray: `float16` is nearest to `bf16`.
_SYNONYMS = {
    **dict.fromkeys(("float32", "float", "fp32", "single", "f64", "fp64", "float64", "double"), "f32"),
    **dict.fromkeys(("float16", "half", "fp16"), "f16"),
    **dict.fromkeys(("bfloat16", "bfloat"), "bf16"),
    **dict.fromkeys(("fp8", "float8", "float8_e4m3", "float8_e4m3fn", "fp8_e4m3"), "e4m3"),
    **dict.fromkeys(("float8_e5m2", "fp8_e5m2"), "e5m2"),
    **dict.fromkeys(("fp4", "float4", "float4_e2m1"), "e2m1"),
    **dict.fromkeys(("int32", "int"), "i32"),
    **dict.fromkeys(("int64", "long"), "i64"),
    **{f"int{bits}": f"i{bits}" for bits in (4, 8)},
    **{f"uint{bits}": f"u{bits}" for bits in (4, 8, 32)},
    **dict.fromkeys(("shared", "shared_memory", "ring", "buffer"), "smem"),
    **dict.fromkeys(("tensor_memory", "tensor"), "tmem"),
    **dict.fromkeys(("register", "fragment", "rmem"), "registers"),
    **dict.fromkeys(("work_queue", "tile_queue", "tiles"), "queue"),
    **dict.fromkeys(("named_barrier", "bar"), "barrier"),
    **dict.fromkeys(("produce", "producer_acquire"), "acquire"),
    **dict.fromkeys(("producer_commit",), "commit"),
    **dict.fromkeys(("consumer_wait", "consume"), "wait"),
    **dict.fromkeys(("consumer_release", "free"), "release"),
    **dict.fromkeys(("call", "run", "work"), "do"),
    **dict.fromkeys(("loop", "range"), "for"),
    **dict.fromkeys(("persistent", "persistent_static"), "static"),
    **dict.fromkeys(("dynamic", "atomics"), "atomic"),
}


def nearest(word: object, known: Iterable[object]) -> str | None:
    """Give the known word that `word` was probably meant to be."""
    text = literal(word)
    known = list(known)
    if _SYNONYMS.get(text.lower()) in known:
        return _SYNONYMS[text.lower()]
    return closest(text, (str(name) for name in known)) if len(text) <= _LONGEST_GUESS else None


def did_you_mean(word: object, known: Iterable[object]) -> str:
    """Give the help for an unknown word, nothing if no known one is near."""
    guess = nearest(word, known)
    return f"did you mean `{guess}`?" if guess else ""


def count(number: int, noun: str) -> str:
    """Write a number of things: `no entries`, `1 entry`, `3 entries`."""
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {many}" if number else f"no {many}"
