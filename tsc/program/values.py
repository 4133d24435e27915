"""Build-time values of expressions, with lets looked through."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from tsc.expr import EvalError, Expr, ExprError, evaluate, fold, substitute
from tsc.program.scope import Failure
from tsc.source.route import Route


def let_order(lets: Mapping[str, Expr]) -> tuple[str, ...]:
    """Return the lets so that each stands behind those it mentions; whatever a circle defines is left out."""
    missing = {name: {used.text for used in expr.names} & lets.keys() for name, expr in lets.items()}
    users: dict[str, list[str]] = {name: [] for name in lets}
    for name, used in missing.items():
        for other in used:
            users[other].append(name)
    order = [name for name, used in missing.items() if not used]
    for name in order:  # grows while it is walked
        for user in users[name]:
            missing[user].discard(name)
            if not missing[user]:
                order.append(user)
    return tuple(order)


class Values:
    """Constants and lets, ready to be put into expressions. Failures are collected, never raised."""

    def __init__(self, constants: Mapping[str, int | bool], lets: Mapping[str, Expr]) -> None:
        """Take constants by name and lets by name as written; lets in a circle stay names."""
        self.constants = dict(constants)
        self.lets: dict[str, Expr] = {}
        self.failures: list[Failure] = []
        for name in let_order(lets):
            if any(used.text in lets and used.text not in self.lets for used in lets[name].names):
                continue  # it is made from one that grows too large
            error = self.too_large(lets[name])
            if error is None:
                self.lets[name] = self.flat(lets[name])
            else:
                self.failures.append(
                    Failure(("let", name), error.message, (error.start, error.end), error.help)
                )

    def _expanded(self, expr: Expr) -> Expr:
        used = {name.text: self.lets[name.text] for name in expr.names if name.text in self.lets}
        return substitute(expr, used) if used else expr

    def too_large(self, expr: Expr) -> ExprError | None:
        """Return why the lets of an expression cannot be put in, if they cannot."""
        try:
            self._expanded(expr)
        except ExprError as error:
            return error
        return None

    def _fold(self, expr: Expr, env: Mapping[str, int | bool]) -> Expr:
        try:
            return fold(expr, {**self.constants, **env})
        except EvalError:
            return expr

    def flat(self, expr: Expr, env: Mapping[str, int | bool] | None = None) -> Expr:
        """Return the expression without lets, constants and the names of `env` folded.

        One that would grow too large keeps its lets.
        """
        with suppress(ExprError):
            expr = self._expanded(expr)
        return self._fold(expr, env or {})

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
            self.failures.append(Failure(route, error.message, within, error.help))
            return None

    def integer(
        self, expr: Expr | None, route: Route, env: Mapping[str, int | bool] | None = None
    ) -> int | None:
        """Return a build-time integer; a bool counts as 0 or 1."""
        value = self.value(expr, route, env)
        return None if value is None else int(value)
