"""Build-time values of expressions, with lets looked through."""

from __future__ import annotations

from collections.abc import Mapping

from tsc.expr import EvalError, Expr, evaluate, fold, substitute
from tsc.program.scope import Failure
from tsc.source.route import Route


class Values:
    """Constants and lets, ready to be put into expressions. Failures are collected, never raised."""

    def __init__(self, constants: Mapping[str, int | bool], lets: Mapping[str, Expr]) -> None:
        """Take constants by name and lets by name as written; lets in a circle stay names."""
        self.constants = dict(constants)
        self.lets: dict[str, Expr] = {}
        self.failures: list[Failure] = []
        for name in lets:
            self._flatten(name, lets, frozenset())

    def _flatten(self, name: str, lets: Mapping[str, Expr], above: frozenset[str]) -> Expr | None:
        if name in self.lets:
            return self.lets[name]
        if name in above:
            return None
        inner = {}
        for used in lets[name].names:
            if used.text in lets:
                value = self._flatten(used.text, lets, above | {name})
                if value is None:
                    return None
                inner[used.text] = value
        flat = self._fold(substitute(lets[name], inner), {})
        self.lets[name] = flat
        return flat

    def _fold(self, expr: Expr, env: Mapping[str, int | bool]) -> Expr:
        try:
            return fold(expr, {**self.constants, **env})
        except EvalError:
            return expr

    def flat(self, expr: Expr, env: Mapping[str, int | bool] | None = None) -> Expr:
        """Return the expression without lets, constants and the names of `env` folded."""
        used = {name.text: self.lets[name.text] for name in expr.names if name.text in self.lets}
        return self._fold(substitute(expr, used) if used else expr, env or {})

    def value(
        self, expr: Expr | None, route: Route, env: Mapping[str, int | bool] | None = None
    ) -> int | bool | None:
        """Return a build-time value, or nothing, with the reason among the failures.

        A name that is not known at build is another rule's finding, and leaves no failure here.
        """
        if expr is None:
            return None
        flat = self.flat(expr, env)
        if flat.names:
            return None
        try:
            return evaluate(flat, {})
        except EvalError as error:
            within = (error.start, error.end) if flat is expr else None
            self.failures.append(Failure(route, error.message, within))
            return None

    def integer(
        self, expr: Expr | None, route: Route, env: Mapping[str, int | bool] | None = None
    ) -> int | None:
        """Return a build-time integer; a bool counts as 0 or 1."""
        value = self.value(expr, route, env)
        return None if value is None else int(value)
