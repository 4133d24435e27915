"""Run-time loops, their pieces, and the conditions that speak of the round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import gcd
from typing import Any

from tsc.emit.function import Function
from tsc.emit.hazards import APART
from tsc.emit.kernel import integer_type
from tsc.emit.plan import Compound, Item, Statement
from tsc.emit.scope import Ahead, Round, Scope
from tsc.expr import Cpp, Expr, Interval, build, fold, interval, multiple_of
from tsc.expr.tree import Binary, Call, Compare, Int, Ref
from tsc.ops.lowering import Refused
from tsc.program.model import Task
from tsc.program.tree import Block, Guard, Loop, Step, walk

MEETINGS = frozenset(("sync", "fence_async", "fence_async_global"))


def waits_for_grid(node: Loop) -> bool:
    """Whether what a loop reads may be written by the kernel before, until a round has waited for that."""
    inside = (one for piece in node.pieces for one, _ in walk(piece.body))
    return any(isinstance(one, Step) and one.verb == "pdl_wait" for one in inside)


class Loops:
    """Lowers the loops of one task; `block` lowers what is inside."""

    def __init__(self, function: Function, block: Callable[[Block, Scope], list[Item]]) -> None:
        self.function, self.block = function, block
        self.task: Task = function.task

    def lower(self, node: Loop, scope: Scope) -> list[Item]:
        """Lower a loop: what it needs before it, then one C++ loop a piece."""
        function, env = self.function, node.env
        step = function.interval(node.step, env, scope)
        if step.lo <= 0 <= step.hi:
            raise Refused(f"the sign of the step `{node.step.text}` is not known when built")
        up = step.lo > 0
        first, last = function.interval(node.start, env, scope), function.interval(node.end, env, scope)
        if node.variable not in function.loop_variables:
            function.loop_variables[node.variable] = function.names.free(node.variable)
        variable = function.loop_variables[node.variable]
        before: list[Item] = []
        start = function.cpp(node.start, env, scope)
        end = self._held_fixed(node.end, f"{variable}_end", before, scope, env)
        stride = self._held_fixed(node.step, f"{variable}_step", before, scope, env)
        flat_start, flat_step = function.flat(node.start, env), function.flat(node.step, env)
        reach = (
            Interval(first.lo, max(first.hi, last.hi - 1 + step.hi))
            if up
            else Interval(min(first.lo, last.lo + 1 + step.lo), first.hi)
        )
        type_ = integer_type(reach)
        trips = self._trips(flat_start, function.flat(node.end, env), flat_step, up)
        counted = interval(trips, function.ranges(env, scope))
        rounds = fold(trips, {}).value
        counter_type = integer_type(counted)
        simple = up and flat_start.value == 0 and flat_step.value == 1
        names = function.names
        literal = flat_step.value
        distance = f"- {-literal}" if literal is not None and literal < 0 else f"+ {stride.operand}"
        round_ = Round(
            variable,
            names.free("iter"),
            str(int(rounds)) if rounds is not None else names.free("trips"),
            start.text if flat_start.value is not None else names.free(f"{variable}_start"),
            f"{variable} {distance} {'>=' if up else '<='} {end.operand}",
            simple,
        )
        inner = self._inner(node, scope, round_, flat_start, flat_step, first, last, up, counted)
        surely = rounds is not None and rounds > 0
        ahead = Ahead("" if surely else f"{start.operand} {'<' if up else '>'} {end.operand}")
        if not node.split and not waits_for_grid(node):
            inner = replace(inner, certain="round", ahead=ahead)
        pieces = [self.block(piece.body, inner) for piece in node.pieces]
        before += ahead.lets.values()
        for name in ahead.lets:
            del function.spelled_lets[name]
        for use, name in (("counter", round_.counter), ("trips", round_.trips), ("start", round_.start)):
            if use not in round_.uses:
                names.own.discard(name)
        if "start" in round_.uses and flat_start.value is None:
            before.append(Statement("constant", {"type": type_, "name": round_.start, "value": start.text}))
            start = Cpp(round_.start, start.bits, False)
        if "trips" in round_.uses and rounds is None:
            text = function.text(self._trips(node.start, node.end, node.step, up), env, scope)
            before.append(Statement("constant", {"type": counter_type, "name": round_.trips, "value": text}))
        counter = round_.counter if "counter" in round_.uses else ""
        bound = "<" if up else ">"
        advance = (
            f"{variable} -= {-literal}"
            if literal is not None and literal < 0
            else f"{variable} += {stride.text}"
        )
        if literal in (1, -1):
            advance = f"{'++' if up else '--'}{variable}"
        head = {
            "type": type_,
            "variable": variable,
            "advance": advance,
            "counter": counter,
            "counter_type": counter_type,
        }
        if not node.split:
            fields = {
                **head,
                "start": start.text,
                "condition": f"{variable} {bound} {end.operand}",
                "unroll": node.unroll,
                "inline_counter": counter_type == type_,
            }
            if not round_.uses & {"counter", "trips"}:
                whole = self._whole_rounds(node, fields, pieces[0], end, stride, first, last, step)
                if whole is not None:
                    return [*before, whole]
            loop = Compound("for", fields, tuple(pieces[0]))
            if counter and counter_type != type_:
                before.append(Statement("variable", {"type": counter_type, "name": counter, "value": "0"}))
            return [*before, loop]
        return self._split(node, scope, before, head, start.text, end, pieces, up)

    def _whole_rounds(
        self,
        node: Loop,
        head: Mapping[str, Any],
        body: list[Item],
        end: Cpp,
        stride: Cpp,
        first: Interval,
        last: Interval,
        step: Interval,
    ) -> Item | None:
        """Print an unrolled loop as rounds of so many iterations, which ask for the end once, so that the
        compiler gathers their loads, and a loop for those left; nothing where that is not worth it.
        """
        copies, names = node.unroll or 1, self.function.names
        steps = all(isinstance(inner, Step) and inner.verb in APART for inner in node.pieces[0].body)
        meets = any(isinstance(item, Statement) and item.macro in MEETINGS for item in body)
        counts = self.function.flat(node.end, node.env).value is not None and node.start.value is not None
        # Below, the end minus the variable has to be a number of the type.
        fits = head["type"] == "i64" or (first.lo >= 0 and last.lo >= 0)
        if copies < 2 or step.lo < 1 or not steps or meets or counts or not fits:
            return None
        variable, type_ = head["variable"], head["type"]
        base, copy = names.free(f"{variable}_base"), names.free("copy")
        distance = stride if step.hi * copies < 2**31 else stride.widened()
        literal = self.function.flat(node.step, node.env).value

        def times(count: int) -> str:
            return str(int(literal) * count) if literal is not None else f"{count} * {distance.operand}"

        offset = copy if literal == 1 else f"{copy} * {distance.operand}"
        own: Item = Statement("constant", {"type": type_, "name": variable, "value": f"{base} + {offset}"})
        inner = {
            **head,
            "type": "int",
            "variable": copy,
            "start": "0",
            "condition": f"{copy} < {copies}",
            "advance": f"++{copy}",
            "unroll": copies,
        }
        rounds = {
            "variable": base,
            "condition": f"{end.operand} - {base} > {times(copies - 1)}",
            "advance": f"{base} += {times(copies)}",
        }
        items: list[Item] = [
            Statement("variable", {"type": type_, "name": base, "value": head["start"]}),
            Compound(
                "for", {**head, **rounds, "start": "", "unroll": 1}, (Compound("for", inner, (own, *body)),)
            ),
            Compound("for", {**head, "start": base, "unroll": 1}, tuple(body)),
        ]
        return Compound("scope", {}, tuple(items))

    def _split(
        self,
        node: Loop,
        scope: Scope,
        before: list[Item],
        head: dict[str, str],
        start: str,
        end: Cpp,
        pieces: list[list[Item]],
        up: bool,
    ) -> list[Item]:
        """Print the pieces one after another around one variable, cut where they meet."""
        function = self.function
        items = [
            *before,
            Statement("variable", {"type": head["type"], "name": head["variable"], "value": start}),
        ]
        if head["counter"]:
            items.append(
                Statement("variable", {"type": head["counter_type"], "name": head["counter"], "value": "0"})
            )
        for piece, body in zip(node.pieces, pieces, strict=True):
            limit = end.operand
            if piece.until is not None:
                clamped = build(Call("min" if up else "max", (piece.until.tree, node.end.tree)))
                text = function.text(clamped, node.env, scope)
                limit = function.names.free(f"{head['variable']}_cut")
                items.append(Statement("constant", {"type": head["type"], "name": limit, "value": text}))
            fields = {
                **head,
                "start": "",
                "condition": f"{head['variable']} {'<' if up else '>'} {limit}",
                "unroll": node.unroll,
                "inline_counter": False,
            }
            items.append(Compound("for", fields, tuple(body)))
        return [Compound("scope", {}, tuple(items))]

    def _held_fixed(self, expr: Expr, wanted: str, before: list[Item], scope: Scope, env: object) -> Cpp:
        """Return an expression evaluated once: itself if it is a name or a number, else a constant."""
        value = self.function.cpp(expr, env, scope)  # type: ignore[arg-type]
        own = self.function.resolved(expr, env, scope)  # type: ignore[arg-type]
        fixed = own.value is not None or (
            isinstance(own.tree, Ref) and own.tree.name not in self.function.program.registers
        )
        if fixed and own.free.isdisjoint(self.function.token_types):
            return value
        if not own.free - self.function.program.constants.keys():
            return value
        name = self.function.names.free(wanted)
        before.append(
            Statement(
                "constant", {"type": "int" if value.bits == 32 else "i64", "name": name, "value": value.text}
            )
        )
        return Cpp(name, value.bits, False)

    @staticmethod
    def _trips(start: Expr, end: Expr, step: Expr, up: bool) -> Expr:
        """Return the number of rounds."""
        if up and start.value == 0 and step.value == 1:
            return build(Call("max", (end.tree, Int(0))))
        return build(Call("max", (Call("cdiv", (Binary("-", end.tree, start.tree), step.tree)), Int(0))))

    def _inner(
        self,
        node: Loop,
        scope: Scope,
        round_: Round,
        start: Expr,
        step: Expr,
        first: Interval,
        last: Interval,
        up: bool,
        counted: Interval,
    ) -> Scope:
        """Return the scope of the body."""
        function, name = self.function, node.variable
        low, high = (first.lo, max(first.lo, last.hi - 1)) if up else (min(first.hi, last.lo + 1), first.hi)
        own = Interval(low, high)
        rounds = Interval(0, max(0, counted.hi - 1))
        ranges = {name: own, "iter": rounds, "trips": Interval(1, max(1, counted.hi))}
        spelled = {name: round_.variable}
        known = {**function.kernel.multiples(), **scope.multiples}
        factor = gcd(multiple_of(start, known), multiple_of(step, known))
        end = function.flat(node.end, node.env)
        facts = [
            build(Compare((">=",) if up else ("<=",), (Ref(name), start.tree))),
            build(Compare(("<",) if up else (">",), (Ref(name), end.tree))),
        ]
        if start.value is not None and step.value is not None:
            stepped = Binary("+", start.tree, Binary("*", Ref("iter"), step.tree))
            facts.append(build(Compare(("==",), (Ref(name), stepped))))
        inner = scope.inside().without(name, "iter", "trips").naming(ranges, spelled).knowing(*facts)
        multiples = {**scope.multiples, name: factor} if factor else dict(scope.multiples)
        return replace(inner, multiples=multiples, round=round_)

    def round_condition(self, node: Guard, scope: Scope) -> str:
        """Return the C++ of `first_iter`, `last_iter` or `every`."""
        round_ = scope.round
        if round_ is None:
            raise Refused(f"`{node.verb}` stands outside of a loop")
        if node.kind == "first_iter":
            round_.uses.add("start")
            return f"{round_.variable} == {round_.start}"
        if node.kind == "last_iter":
            return round_.last
        period, start = node.period, node.start or 0
        if period is None or period < 1 or start < 0:
            raise Refused("`every` takes a period of 1 or more and a start of 0 or more, known when built")
        count = round_.iteration()
        if start == 0:
            return f"{count} % {period} == 0"
        return f"{count} >= {start} && ({count} - {start}) % {period} == 0"
