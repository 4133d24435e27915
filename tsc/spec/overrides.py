"""What a call changes in a spec: `-D NAME=VALUE` and `--set ROUTE=VALUE`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tsc.diagnostics.model import Finding, Place
from tsc.expr import EvalError, ExprError, evaluate
from tsc.expr import parse as parse_expression
from tsc.model import shorten
from tsc.source import parse
from tsc.source.route import Route, show_route
from tsc.spec.wording import actual, count, did_you_mean, subject

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_STEP = re.compile(r'\.?(?:([A-Za-z_][A-Za-z0-9_-]*)|"((?:[^"\\]|\\.)*)")|\[([0-9]+)\]')
_LARGEST_INDEX = 10**9


class UsageError(Exception):
    """An option that cannot be read, whatever the spec; its text is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class Define:
    """A constant's value, or the size of a dim that becomes one; `option` is what the user wrote."""

    name: str
    value: int | bool
    option: str


@dataclass(frozen=True, slots=True)
class Setting:
    """A value for a place of the document."""

    route: Route
    value: object
    option: str


@dataclass(frozen=True, slots=True)
class Overrides:
    """All that a call changes, in its order."""

    defines: tuple[Define, ...] = ()
    settings: tuple[Setting, ...] = ()

    def places(self) -> dict[Route, str]:
        """Give the changed places, each with the option that changes it."""
        found: dict[Route, str] = {("constants", define.name): define.option for define in self.defines}
        return found | {setting.route: setting.option for setting in self.settings}


def parse_overrides(defines: Iterable[str], settings: Iterable[str]) -> Overrides:
    """Read the operands of `-D` and `--set`; UsageError for one that has not their form."""
    return Overrides(tuple(map(_define, defines)), tuple(map(_setting, settings)))


def _define(text: str) -> Define:
    name, sign, written = (part.strip() for part in text.partition("="))
    option = f"-D {shorten(text)}"
    if not sign or not _NAME.fullmatch(name):
        raise UsageError(f"`{option}` has not the form `-D NAME=VALUE`")
    value = _value(written, option)
    if not isinstance(value, (bool, int)):
        raise UsageError(
            f"`{option}`: a constant is an integer, `true` or `false`, and this is {actual(value)}"
        )
    return Define(name, value, option)


def _setting(text: str) -> Setting:
    option = f"--set {shorten(text)}"
    route, end = read_route(text)
    if not route or text[end : end + 1] != "=":
        raise UsageError(f"`{option}` has not the form `--set ROUTE=VALUE`, as in `resources.ring.stages=4`")
    return Setting(route, _value(text[end + 1 :], option), option)


def read_route(text: str) -> tuple[Route, int]:
    """Read the route, `tasks.load.schedule[0].acquire`, that a text begins with; also give where it ends."""
    route: list[str | int] = []
    at = 0
    while match := _STEP.match(text, at):
        bare, quoted, index = match.groups()
        if index is None and text.startswith(".", at) != bool(route):
            break
        if index is not None:
            if not route or len(index) > 9:
                break
            route.append(int(index))
        else:
            route.append(bare if bare is not None else re.sub(r"\\(.)", r"\1", quoted))
        at = match.end()
    return tuple(route), at


def _value(text: str, option: str) -> object:
    if "\n" in text or "\r" in text:
        raise UsageError(f"`{option}`: a value stands on one line")
    reading = parse(f"value: {text}", "value", "yaml")
    data = reading.document.data if reading.document else None
    if reading.findings or not isinstance(data, dict) or list(data) != ["value"]:
        reason = f": {reading.findings[0].message}" if reading.findings else ""
        raise UsageError(f"the value of `{option}` cannot be read{reason}")
    return data["value"]


def apply(data: object, overrides: Overrides) -> tuple[object, tuple[Finding, ...]]:
    """Give the data with the changes in it, and findings for those that the spec has no place for."""
    findings: list[Finding] = []
    for define in overrides.defines:
        data = _set_constant(data, define, findings)
    for setting in overrides.settings:
        data = _set_place(data, setting, findings)
    return data, tuple(findings)


def _set_constant(data: object, define: Define, findings: list[Finding]) -> object:
    root = data if isinstance(data, dict) else {}
    constants, dims = _mapping(root, "constants"), _mapping(root, "dims")
    if define.name in constants:
        return _replaced(root, ("constants", define.name), define.value)
    sizes = _sizes(root)
    if define.name not in sizes:
        place, message, help = _no_constant(root, define, [*constants, *sizes])
        findings.append(Finding("bad-override", message, place, help=help))
        return data
    findings += _broken_promises(dims.get(define.name), define, constants)
    root = _replaced(root, ("constants", define.name), define.value)
    if define.name in dims:
        root = _replaced(root, ("dims",), {name: dim for name, dim in dims.items() if name != define.name})
    return root


def _no_constant(root: dict[str, Any], define: Define, known: list[str]) -> tuple[Place, str, str]:
    for key in ("params", "workspace", "let", "resources", "work", "tasks"):
        if define.name in _mapping(root, key):
            message = f"`{define.option}` sets a constant or a dim, and `{define.name}` stands under `{key}`"
            help = f"use `--set {show_route((key, define.name))}=...` to change it"
            return Place((key, define.name), "key"), message, help
    message = f"`{define.option}` sets nothing: no constant and no dim is called `{define.name}`"
    return Place(("constants",), "key"), message, did_you_mean(define.name, known)


def _sizes(root: dict[str, Any]) -> list[str]:
    """Give the names of dims: those that shapes of params use and nothing declares, and those of `dims`."""
    declared = {name for key in ("constants", "params", "workspace", "let") for name in _mapping(root, key)}
    found: dict[str, None] = {}
    for param in _mapping(root, "params").values():
        shape = param.get("shape") if isinstance(param, dict) else None
        for extent in shape if isinstance(shape, list) else ():
            try:
                names = parse_expression(extent).names if isinstance(extent, str) else ()
            except ExprError:
                continue
            found.update((name.text, None) for name in names if name.text not in declared)
    found.update((name, None) for name in _mapping(root, "dims") if name not in declared)
    return list(found)


def _broken_promises(dim: object, define: Define, constants: Mapping[str, Any]) -> Iterator[Finding]:
    """Hold the size that a dim gets against what `dims` promises about it, which goes with the dim."""
    size = define.value
    for key, promise in dim.items() if isinstance(dim, dict) else ():
        try:
            bound = evaluate(parse_expression(promise), constants)
        except (ExprError, EvalError, TypeError):
            continue  # not a promise that the models take either
        sentence = ""
        if key == "multiple_of" and bound > 0 and size % bound:
            sentence = f"a multiple of {bound:,}"
        elif key == "min" and size < bound:
            sentence = f"at least {bound:,}"
        elif key == "max" and size > bound:
            sentence = f"at most {bound:,}"
        if sentence:
            message = f"`{define.option}` breaks the promise that `{define.name}` is {sentence}"
            yield Finding("bad-override", message, Place(("dims", define.name, key)))


def _set_place(data: object, setting: Setting, findings: list[Finding]) -> object:
    from tsc.spec import grammar  # not before: a call that sets nothing pays nothing for it
    from tsc.spec.document import Spec

    expected: Any = Spec
    value, absent = data, 0
    for depth, part in enumerate(setting.route):
        expected = grammar.settle(expected, value)
        owner, inner_type = grammar.enter(expected, part)
        inner = grammar.step_into(value, part)
        if inner is grammar.NOTHING:
            known = list(grammar.fields(owner)) if owner else list(value) if isinstance(value, dict) else []
            if not (owner and isinstance(value, dict) and part in known):
                if absent and expected is Any:
                    findings.append(_absent_choice(setting, setting.route[:absent]))
                    return data
                above = setting.route[:depth]
                message = f"`{setting.option}` sets nothing: {_absence(above, part, value)}"
                help = did_you_mean(part, known) if isinstance(part, str) else ""
                if not help and not owner and isinstance(part, str) and isinstance(value, dict):
                    help = f"no names are added; `--set '{show_route(above)}={{...}}'` writes all of them"
                findings.append(Finding("bad-override", message, Place(above, "key"), help=help))
                return data
            inner, absent = {}, absent or depth + 1
        expected, value = inner_type, inner
    return _replaced(data, setting.route, setting.value)


def _absent_choice(setting: Setting, route: Route) -> Finding:
    """Give the finding for a part of what the spec leaves out and what may be one of several things."""
    message = f"`{setting.option}` sets nothing: {subject(route[:-1])} has no `{route[-1]}`"
    help = f"set it whole: `--set '{show_route(route)}={{kind: ...}}'`"
    return Finding("bad-override", message, Place(route[:-1], "key"), help=help)


def _absence(above: Route, part: str | int, value: object) -> str:
    name = subject(above)
    if isinstance(value, dict) and isinstance(part, str):
        return f"{name} has no `{shorten(part)}`"
    if isinstance(value, list) and isinstance(part, int):
        return f"{name} has {count(len(value), 'entry')}, counted from 0, and none is `[{part}]`"
    if isinstance(value, (dict, list)):
        kind = "an index" if isinstance(part, int) else "a key"
        return f"{name} is {actual(value)}, and `{show_route((part,))}` is {kind}"
    return f"{name} is {actual(value)} and has no parts"


def _mapping(data: dict[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _replaced(data: object, route: Route, value: object) -> Any:
    """Give a copy of `data` with `value` at a route; what is not on the way is shared, what lacks is made."""
    if not route:
        return value
    part, rest = route[0], route[1:]
    if isinstance(data, list) and isinstance(part, int):
        return [_replaced(inner, rest, value) if i == part else inner for i, inner in enumerate(data)]
    mapping = data if isinstance(data, dict) else {}
    return mapping | {part: _replaced(mapping.get(part), rest, value)}
