"""What is said about an entry of a schedule that is not one verb with its operand."""

from __future__ import annotations

import re

from pydantic_core import ErrorDetails

from tsc.diagnostics.model import Finding, Place
from tsc.model import shorten
from tsc.spec.grammar import Spot, required
from tsc.spec.schedule import BARE_STEPS, NODES
from tsc.spec.wording import actual, nearest, series

_DOTTED = re.compile(r"([A-Za-z_]\w*)\.(\w+)\s*(?:\(\s*\))?\Z")
_VERBS = (*NODES, *BARE_STEPS)

# What instructions are called elsewhere, by how the name begins, with what to write instead.
_CLOSED = "write `commit` of the accumulator; `release` of an operand does it too"
_DERIVED = "take it away: it is derived, and nobody writes it"
_INSTRUCTIONS = {
    "mma": "write `tcgen05_mma` for sm_100a, `wgmma` for sm_90a",
    "umma": "write `tcgen05_mma`",
    "utcmma": "write `tcgen05_mma`",
    "tcgen05_commit": _CLOSED,
    "tcgen05_wait": _DERIVED,
    "tcgen05_fence": _DERIVED,
    "tcgen05_alloc": "take it away: a resource of `kind: tmem` is allocated",
    "tcgen05_dealloc": "take it away: a resource of `kind: tmem` is freed at the end",
    "tcgen05_relinquish": _DERIVED,
    "wgmma_fence": _DERIVED,
    "wgmma_commit": _DERIVED,
    "wgmma_arrive": _DERIVED,
    "fence": _DERIVED,
    "mbarrier_init": _DERIVED,
    "mbarrier_expect": _DERIVED,
    "mbarrier_arrive": "write `commit` of what has been filled, or `release` of what has been read",
    "mbarrier_try_wait": "write `wait` for what is to be read, or `acquire` for what is to be filled",
    "mbarrier_test_wait": "write `wait` for what is to be read, or `acquire` for what is to be filled",
    "mbarrier_wait": "write `wait` for what is to be read, or `acquire` for what is to be filled",
    "setmaxnreg": "write `registers` of the task",
    "elect": "take it away: one thread issues what one thread must",
    "syncthreads": "write `task_sync`, or `sync` of a `barrier` between tasks",
}


def explain_step(error: ErrorDetails, spot: Spot) -> Finding:
    """Say why an entry of a schedule has no single verb, and which one was probably meant."""
    value, place = spot.value, Place(spot.route)
    if isinstance(value, str):
        message, help = _bare(value.strip())
        return Finding("not-one-verb", message, place, help=help)
    if not isinstance(value, dict):
        help = "write a loop or `repeat` for steps that belong together" if isinstance(value, list) else ""
        return Finding(
            "not-one-verb", f"a step is a verb and its operand, and this is {actual(value)}", place, help=help
        )
    verbs = [key for key in value if key in NODES]
    if verbs:
        first, second = verbs[:2]
        steps = " and ".join(f"`{{{verb}: {_operand(value[verb])}}}`" for verb in verbs)
        return Finding(
            "not-one-verb",
            f"a step has one verb; this has {series(verbs)}",
            Place((*spot.route, second), "key", label="a second verb"),
            (Place((*spot.route, first), "key", label="the first one"),),
            f"write {len(verbs)} steps: {steps}",
        )
    if not value:
        return Finding(
            "not-one-verb", "a step has a verb, and this is an empty mapping", place, help="remove it"
        )
    for key in value:
        if found := _instruction(key):
            message, help = found
            help = f"write `commit: {_operand(value[key])}`" if help == _CLOSED else help
            return Finding("not-one-verb", message, Place((*spot.route, key), "key"), help=help)
    key, help = _likeliest(list(value))
    message = f"a step has a verb, and this has none: `{shorten(key)}`"
    if key in BARE_STEPS:
        message, help = f"`{key}` is a step without operand or options", f"write `- {key}`"
    return Finding("not-one-verb", message, Place((*spot.route, key), "key"), help=help)


def _instruction(text: str) -> tuple[str, str] | None:
    """Return message and help for an instruction that has another name here, or none."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    begun = [it for it in _INSTRUCTIONS if name == it or name.startswith(f"{it}_")]
    if not begun or text in _VERBS:
        return None
    return f"no verb is called `{shorten(text)}`", _INSTRUCTIONS[max(begun, key=len)]


def _operand(value: object) -> str:
    return shorten(str(value)) if isinstance(value, (str, int)) and value != "" else "..."


def _likeliest(keys: list[str]) -> tuple[str, str]:
    """Choose the key that stands for the verb, with the help for it."""
    for key in keys:
        if key in BARE_STEPS:
            return key, ""
    for key in keys:
        dotted = _DOTTED.match(key)
        if dotted and dotted[2] in NODES:
            return key, f"write `{dotted[2]}: {dotted[1]}`"
    for key in keys:
        guess = nearest(key, _VERBS)
        if guess:
            return key, f"did you mean `{guess}`?"
    return keys[0], "`tsc explain not-one-verb` lists the verbs"


def _bare(text: str) -> tuple[str, str]:
    verb, _, rest = text.partition(" ")
    message = f"a step has a verb, and this has none: `{shorten(text)}`"
    if not text:
        return "a step has a verb, and this is an empty text", "remove it"
    if text in NODES:
        needs = "and ".join(f"`{key}` " for key in required(NODES[text]) if key != text)
        also = f", which also needs {needs.strip()}" if needs else ""
        return (
            f"a verb stands with its operand, and this has none: `{text}`",
            f"write `{text}: OPERAND`{also}",
        )
    if found := _instruction(verb.rstrip(":;()")):
        return found
    if verb.rstrip(":") in NODES and rest:
        return message, f"write `{verb.rstrip(':')}: {shorten(rest.strip())}`"
    dotted = _DOTTED.match(text)
    if dotted and dotted[2] in NODES:
        return message, f"write `{dotted[2]}: {dotted[1]}`"
    guess = nearest(text, _VERBS)
    return message, f"did you mean `{guess}`?" if guess else "`tsc explain not-one-verb` lists the verbs"
