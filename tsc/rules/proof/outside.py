"""Reads of what nobody wrote, and accesses that the kernel before this one may meet, each as one finding."""

from __future__ import annotations

from tsc.diagnostics.model import Finding, Place
from tsc.ops.tcgen05_mma import Tcgen05Mma
from tsc.prove.verdict import Alarm
from tsc.rules.proof.teller import Teller
from tsc.rules.proof.trail import given


def unwritten(rule: str, teller: Teller, alarm: Alarm) -> Finding:
    """Tell of a read that finds nothing."""
    return _read(rule, teller, alarm, "nothing has written it")


def stale(rule: str, teller: Teller, alarm: Alarm) -> Finding:
    """Tell of a read that finds what an older fill has left."""
    own = _in_own_bracket(teller, alarm)
    since = "nothing has written it since its `acquire`"
    finds = since if own else "the fill that it waits for has not written it"
    return _read(rule, teller, alarm, finds)


def _in_own_bracket(teller: Teller, alarm: Alarm) -> bool:
    """Whether who reads fills the stage itself."""
    task = teller.task(alarm.at.agent)
    if task is None or alarm.segment is None:
        return False
    owner = teller.access(alarm.at, alarm.segment).owner
    uses = [use for use in teller.program.uses if use.task == task.label]
    return any(use.acquires and not use.waits for use in uses if owner and use.ring == owner.resource)


def _adds(teller: Teller, alarm: Alarm) -> str | None:
    """Return the accumulator of a product that reads what is not there; nothing where it reads an operand."""
    step, task = teller.step(alarm.at), teller.task(alarm.at.agent)
    if step is None or task is None or not isinstance(step.model, Tcgen05Mma) or alarm.segment is None:
        return None
    owner = teller.access(alarm.at, alarm.segment).owner
    accumulator = step.model.tcgen05_mma
    named = teller.program.meanings.group_members(accumulator.name)
    return accumulator.text if owner is not None and owner.resource in named else None


def _read(rule: str, teller: Teller, alarm: Alarm, finds: str) -> Finding:
    at, segment = alarm.at, alarm.segment
    if segment is None:
        raise ValueError("a read has a segment")
    part, span = teller.part(teller.access(at, segment), segment), teller.span(segment)
    writers = [
        Place(route, label=f"{teller.name(agent)} writes it here" + (f", {only}" if only else ""))
        for agent, route in teller.writers(segment)
        for only in (teller.only(agent, route),)
        if route != at.route
    ]
    sum_ = _adds(teller, alarm)
    does = "reads" if sum_ is None else "adds to"
    help = "write it on every path that leads here" if writers else "write it before, or do not read it"
    if sum_ is not None:
        help = f"let `accumulate` be false in the first round, as `iter > 0` is, or write `{sum_}` before"
    return Finding(
        rule,
        f"{teller.name(at.agent)} {does} {part} at {teller.quoted(at)}{teller.when(at)}, and "
        f"{finds}{given(teller, alarm)}",
        teller.place(at, f"{does} {part}" + (f" ({span})" if span else "")),
        tuple(writers[:3]),
        help=help,
    )


def before_wait(rule: str, teller: Teller, alarm: Alarm) -> Finding:
    """Tell of an access that does not come after a `pdl_wait`."""
    at = alarm.at
    names, asked = teller.tensors(at), teller.asked(at)
    what = " and ".join(f"`{name}`" for name in names or asked) or "data"
    deed = f"touches {what} at {teller.quoted(at)}"
    be = "are" if len(names or asked) > 1 else "is"
    if asked and not names:
        deed = "reads " + " and ".join(f"`{name}` in {place}" for name, place in asked.items())
    return Finding(
        rule,
        f"{teller.name(at.agent)} {deed} before a `pdl_wait`, and the kernel before may still be writing"
        f"{given(teller, alarm)}",
        teller.place(at, "may run before the kernel before has ended"),
        tuple(Place(route, label="waits for it here") for route in teller.pdl_waits()[:3]),
        help=f"put `pdl_wait` at the start of {teller.name(at.agent)}, "
        f"or promise that {what} {be} `constant`",
    )


def launch(rule: str, teller: Teller, alarm: Alarm) -> Finding:
    """Tell of a `pdl_launch` that does not come after a `pdl_wait`."""
    at = alarm.at
    return Finding(
        rule,
        f"{teller.name(at.agent)} lets the next kernel start before a `pdl_wait`, while the kernel "
        f"before may still run{given(teller, alarm)}",
        teller.place(at, "may run before the kernel before has ended"),
        tuple(Place(route, label="waits for it here") for route in teller.pdl_waits()[:3]),
        help=f"put `pdl_wait` before it in {teller.name(at.agent)}",
    )
