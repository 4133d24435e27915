"""From Pydantic's errors to findings: our own words, each at the key or the value that is at fault."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pydantic_core import ErrorDetails

from tsc.diagnostics.model import Finding, Place
from tsc.model import Model, shorten
from tsc.ops.base import StepModel
from tsc.source.route import Route
from tsc.spec import document, grammar, resources, schedule
from tsc.spec.cuts import Sifted
from tsc.spec.grammar import Spot
from tsc.spec.steps import explain_step
from tsc.spec.wording import SWITCHES, actual, count, did_you_mean, literal, nearest, series, subject

Explain = Callable[[ErrorDetails, Spot], Finding]


def explain(errors: Iterable[ErrorDetails], data: object, sifted: Sifted) -> Iterator[Finding]:
    """Yield a finding for each problem; what `sifted` has settled is passed over."""
    missing: dict[Route, tuple[type[Model], list[str]]] = {}
    unknown: list[tuple[str, Spot]] = []
    for error in errors:
        spot = grammar.follow(error["loc"], data, error["type"])
        if error["type"] == "extra_forbidden":
            sifted.empty.pop(spot.route, None)  # no value would mend a key that is not known
        if sifted.covers(spot.route):
            continue
        if error["type"] == "missing":
            if spot.owner is not None:
                missing.setdefault(spot.route, (spot.owner, []))[1].append(str(error["loc"][-1]))
        elif error["type"] == "extra_forbidden":
            unknown.append((str(error["loc"][-1]), spot))
        elif not _has_length(error, spot, sifted):
            yield _EXPLAIN.get(error["type"], _other)(error, spot)
    for key, spot in unknown:
        yield _unknown_key(key, spot, missing, data)
    for route, (owner, keys) in missing.items():
        if keys:
            yield _missing_keys(route, owner, keys, data)


def _has_length(error: ErrorDetails, spot: Spot, sifted: Sifted) -> bool:
    """Whether a list that is said to be too long or too short is not: its entries were cut, or are wrong."""
    if error["type"] not in ("too_long", "too_short"):
        return False
    enough = error["type"] == "too_short" and isinstance(spot.value, list)
    return spot.route in sifted.lengths or (enough and len(spot.value) >= error["ctx"]["min_length"])  # type: ignore[arg-type]


def _unknown_key(
    key: str, spot: Spot, missing: dict[Route, tuple[type[Model], list[str]]], data: object
) -> Finding:
    *above, _ = spot.route
    route, owner = tuple(above), spot.owner or document.Spec
    noun = grammar.noun(owner, subject(route).strip("`"))
    known = list(grammar.fields(owner))
    taken = _at(data, route)
    free = [name for name in known if not isinstance(taken, dict) or name not in taken]
    lacking = missing.get(route, (owner, []))[1]
    guess = nearest(key, free)
    misspelt = guess in lacking
    if misspelt:
        lacking.remove(str(guess))  # one mistake: the key is there under another name
    step = issubclass(owner, StepModel)
    message = f"{noun} has no {'option' if step else 'key'} `{shorten(key)}`"
    help = f"did you mean `{guess}`?" if guess else ""
    homes = _homes(key, owner)
    if homes and not misspelt:
        help = f"`{key}` is {'an option' if step else 'a key'} of {series(homes)}"
    elif not help and len(known) == 1 and step:
        help = f"{noun} has no options"
    elif not help:
        keys = [name for name in known if name != getattr(owner, "verb", None)]
        help = f"its {'options' if step else 'keys'} are {series(keys)}"
    return Finding("unknown-key", message, Place(spot.route, "key"), help=help)


def _homes(key: str, owner: type[Model]) -> list[str]:
    """Name the other steps, or the other kinds of resource, that have the key."""
    if issubclass(owner, StepModel):
        return [
            verb for verb, model in schedule.NODES.items() if verb != key and key in grammar.fields(model)
        ][:4]
    kinds = grammar.tagged(grammar.strip(resources.Resource))
    if owner not in map(grammar.strip, kinds.values()):
        return []
    return [kind for kind, model in kinds.items() if key in grammar.fields(grammar.strip(model))]


def _missing_keys(route: Route, owner: type[Model], keys: list[str], data: object) -> Finding:
    mapping = _at(data, route)
    first = next(iter(mapping), None) if isinstance(mapping, dict) else None
    place = Place(route) if first is None else Place((*route, first), "key")
    noun = grammar.noun(owner, subject(route).strip("`"))
    if keys == ["tsc"]:
        help = "add `tsc: 1`, the version of the language, as the first line"
    else:
        texts = grammar.descriptions(owner)
        help = "add " + "; ".join(
            f"`{key}` ({texts[key][:1].lower()}{texts[key][1:].rstrip('.')})" if key in texts else f"`{key}`"
            for key in keys
        )
    return Finding("missing-key", f"{noun} needs {series(keys)}", place, help=help)


def _wrong_type(error: ErrorDetails, spot: Spot) -> Finding:
    return _misfit(
        error.get("ctx", {}).get("expected") or _EXPECTED.get(error["type"]) or _forms(spot.expected), spot
    )


def _misfit(expected: str, spot: Spot) -> Finding:
    message = f"{subject(spot.route)} takes {expected}, and this is {actual(spot.value)}"
    return Finding("wrong-type", message, Place(spot.route), help=_mend_type(expected, spot))


_EXPECTED = {
    "model_type": "a mapping",
    "dict_type": "a mapping",
    "tuple_type": "a list",
    "string_type": "text",
    "int_type": "an integer",
    "bool_type": "`true` or `false`",
}
_FORMS = {"scalar": "a single value", "list": "a list", "mapping": "a mapping"}


def _forms(expected: Any) -> str:
    return " or ".join(_FORMS.get(tag, tag) for tag in grammar.tagged(expected)) or "something else"


def _mend_type(expected: str, spot: Spot) -> str:
    value = spot.value
    if isinstance(value, str):
        word = value.strip().lower()
        number = next((kind for kind in ("an integer", "a number") if expected.split(",")[0] == kind), None)
        if number and _is_number(word, whole=number == "an integer"):
            return "remove the quotes"
        if "`true`" in expected and (word in SWITCHES or word in ("true", "false")):
            return f"write `{SWITCHES.get(word, word)}`" if word in SWITCHES else "remove the quotes"
    if spot.route[:1] == ("target",) and type(value) is int and 0 < value < 1000:
        return f"write `sm_{value}a`"
    if expected == "text" and isinstance(value, (bool, int, float)):
        return f'quote it: `"{literal(value)}"`'
    if expected == "a list" and isinstance(value, (bool, int, str)):
        return f"write `[{shorten(literal(value))}]`"
    if expected == "a list" and isinstance(value, dict) and spot.route[-1:] and spot.route[-1] in _BLOCKS:
        return "begin each step with `- `"
    if (
        expected == "a mapping"
        and isinstance(value, list)
        and value
        and all(isinstance(v, dict) for v in value)
    ):
        return "names are keys here: remove the `- ` before each"
    return ""


_BLOCKS = frozenset(("schedule", "body", "then", "else", "first_iter", "last_iter", "skippable"))


def _is_number(text: str, whole: bool) -> bool:
    try:
        int(text) if whole else float(text)
    except ValueError:
        return False
    return len(text) < 20


def _wrong_choice(error: ErrorDetails, spot: Spot) -> Finding:
    known = grammar.choices(spot.expected)
    if spot.route == ("tsc",):
        return _version(spot)
    value = spot.value
    shown = f"`{shorten(literal(value))}`" if isinstance(value, (str, bool, int, float)) else actual(value)
    of = series(known, "or") if len(known) < 3 else f"one of {series(known)}"
    message = f"{subject(spot.route)} is {of}, and this is {shown}"
    help = did_you_mean(value, known) if isinstance(value, (str, bool, int)) else ""
    if isinstance(value, str) and value not in known and value in map(literal, known):
        help = "remove the quotes"
    return Finding("wrong-choice", message, Place(spot.route), help=help)


def _version(spot: Spot) -> Finding:
    known = grammar.choices(spot.expected)[0]
    value = spot.value
    if isinstance(value, int) and not isinstance(value, bool):
        message = f"the spec is of version {value:,} of the language, and this tsc reads version {known}"
        help = "use a newer tsc" if value > int(known) else f"write `tsc: {known}`"
    else:
        message = f"the version of the language is a number, and this is {actual(value)}"
        help = "remove the quotes" if value == str(known) else f"write `tsc: {known}`"
    return Finding("unsupported-version", message, Place(spot.route), help=help)


def _expression(error: ErrorDetails, spot: Spot) -> Finding:
    context = error["ctx"]
    within = (context["start"], context["end"])
    place = Place(spot.route, within=within if isinstance(spot.value, str) else None)
    return Finding("bad-expression", context["message"], place, help=context["help"])


def _said(rule: str) -> Explain:
    def explain_said(error: ErrorDetails, spot: Spot) -> Finding:
        context = error["ctx"]
        place = Place(spot.route, "key" if spot.key else "value")
        return Finding(rule, context["message"], place, help=context.get("help", ""))

    return explain_said


def _constant(error: ErrorDetails, spot: Spot) -> Finding:
    value = str(spot.value)
    word = value.strip().lower()
    if word in SWITCHES or word in ("true", "false") or _is_number(word, whole=False) or not word:
        return _misfit("an integer, `true` or `false`", spot)
    message = f"a constant is a literal, and `{shorten(value)}` is an expression"
    help = f"write `let: {{{spot.route[-1]}: {shorten(value)}}}`, which is known at build too"
    return Finding("non-literal-constant", message, Place(spot.route), help=help)


def _kind(error: ErrorDetails, spot: Spot) -> Finding:
    kinds = list(grammar.tagged(spot.expected))
    what = "a resource" if "smem" in kinds else "an order"
    name, value = subject(spot.route), spot.value
    if not isinstance(value, dict):
        example = f"{{kind: {kinds[0]}, ...}}"
        help = (
            f"write `{example}`"
            if not isinstance(value, str) or value not in kinds
            else f"write `{{kind: {value}}}`"
        )
        return Finding(
            "unknown-kind",
            f"{what} is a mapping with a `kind`, and this is {actual(value)}",
            Place(spot.route),
            help=help,
        )
    one_of = f"one of {series(kinds)}"
    if "kind" not in value:
        typo = next((key for key in value if nearest(key, ["kind"])), None)
        first = typo or next(iter(value), None)
        place = Place(spot.route) if first is None else Place((*spot.route, first), "key")
        message = f"{what} has a `kind`, and {name} has none"
        return Finding(
            "unknown-kind", message, place, help="did you mean `kind`?" if typo else f"add `kind`, {one_of}"
        )
    kind = value["kind"]
    shown = f"`{shorten(literal(kind))}`" if isinstance(kind, (str, bool, int, float)) else actual(kind)
    message = f"the `kind` of {what} is {one_of}, and this is {shown}"
    help = did_you_mean(kind, kinds) if isinstance(kind, str) else ""
    return Finding("unknown-kind", message, Place((*spot.route, "kind")), help=help)


def _range(error: ErrorDetails, spot: Spot) -> Finding:
    name, context = subject(spot.route), error.get("ctx", {})
    match error["type"]:
        case "too_long":
            entries = count(context["actual_length"], "entry")
            message = f"{name} has {entries}, and at most {context['max_length']} fit"
        case "too_short":
            entries = count(context["actual_length"], "entry")
            message = f"{name} has {entries}, and needs {context['min_length']}"
        case "greater_than_equal":
            message = f"{name} is {spot.value:,}, and the least is {context['ge']:,}"
        case _:
            message = f"{name} is {spot.value:,}, and the most is {context['le']:,}"
    return Finding("out-of-range", message, Place(spot.route))


def _other(error: ErrorDetails, spot: Spot) -> Finding:
    # No model raises it today; whatever a new one raises still ends at its place.
    return Finding("wrong-type", f"{subject(spot.route)}: {error['msg'].lower()}", Place(spot.route))


def _at(data: object, route: Route) -> object:
    for part in route:
        data = grammar.step_into(data, part)
    return data


_EXPLAIN: dict[str, Explain] = {
    **dict.fromkeys((*_EXPECTED, "tsc_type", "tsc_form"), _wrong_type),
    **dict.fromkeys(("too_long", "too_short", "greater_than_equal", "less_than_equal"), _range),
    "literal_error": _wrong_choice,
    "tsc_choice": _wrong_choice,
    "tsc_expression": _expression,
    "tsc_name": _said("bad-name"),
    "tsc_reference": _said("bad-reference"),
    "tsc_range": _said("out-of-range"),
    "tsc_constant": _constant,
    "tsc_kind": _kind,
    "tsc_verb": explain_step,
}
