"""Which findings are only symptoms: where a name is not there, or a number cannot be, all that depends on it
looks wrong too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from tsc.diagnostics.model import Finding
from tsc.program.model import Program
from tsc.rules.names.references import references

# What these say comes first; the rest is judged again once it is mended.
NAMES = frozenset(
    (
        "duplicate-name",
        "unknown-name",
        "name-out-of-scope",
        "value-known-too-late",
        "circular-let",
        "unknown-resource",
        "unknown-buffer",
        "shadowed-name",
        "reserved-part-name",
        "misused-tensor",
        "copy-out-of-range",
        "verb-on-wrong-kind",
        "operand-of-wrong-kind",
    )
)
NUMBERS = frozenset(
    (
        "expression-without-value",
        "count-below-one",
        "count-out-of-range",
        "period-out-of-range",
        "too-many-copies",
        "zero-step",
        "too-many-warps",
        "misaligned-buffer",
        "cluster-too-large",
        "pairs-without-cluster",
    )
)
# The brackets of their rings are open as long as a group is none, or a step names the wrong one of both.
GROUPS = frozenset(("group-members", "member-of-group"))
CAUSES = NAMES | NUMBERS | GROUPS
MISSPELT = frozenset(("unknown-name", "unknown-resource"))
UNUSED = frozenset(("unused-declaration", "unused-resource"))


def without_symptoms(program: Program, found: Sequence[Finding]) -> Iterator[Finding]:
    """Leave out what is said about the tasks, works and resources in which a name or number cannot be.

    Left out are findings about schedules, about what such tasks share with others, and about expectations; a
    finding about the warps of a task or about another task stays. A wrong name causes a wrong number.
    """
    causes = [finding for finding in found if finding.rule in CAUSES]
    if not causes:
        yield from found
        return
    places = {finding.place.route[:2] for finding in causes}
    tasks = _tasks(program, places)
    shared = {ref.name for ref in references(program) if ref.task in tasks} | _named(places, "resources")
    shared |= {group.name for group in program.groups.values() if shared & set(group.members)}
    shared |= {name for name, m in program.memories.items() if m.over is not None and m.over.name in shared}
    named = any(finding.rule in NAMES for finding in causes)
    misspelt = any(finding.rule in MISSPELT for finding in causes)
    for finding in found:
        section, name, *rest = (*finding.place.route, "", "")
        symptom = (
            (section == "tasks" and name in tasks and rest[0] in ("schedule", "reads", "writes", ""))
            or (section == "resources" and name in shared)
            or (section == "work" and (section, name) in places)
            or section in ("graph", "expect")
            or finding.rule == "expectation-not-met"
            or (finding.rule in UNUSED and misspelt)
        )
        first = finding.rule in NAMES or (finding.rule in CAUSES and not named)
        if first or not symptom:
            yield finding


def _named(places: Collection[tuple[str | int, ...]], section: str) -> set[str]:
    return {str(place[1]) for place in places if len(place) > 1 and place[0] == section}


def _tasks(program: Program, places: Collection[tuple[str | int, ...]]) -> set[str]:
    """Return the tasks that are at fault, or that use a let, a resource or a work that is."""
    lets, resources, works = (_named(places, section) for section in ("let", "resources", "work"))
    users: dict[str, list[str]] = {}
    for let, expr in program.spec.let.items() if lets else ():
        for used in expr.names:
            users.setdefault(used.text, []).append(let)
    reached = list(lets)
    for let in reached:  # grows while it is walked
        reached += (more := set(users.get(let, ())) - lets)
        lets |= more
    sites = ((site.task, {name.text for name in site.expr.names}) for site in program.sites)
    tasks = _named(places, "tasks") | {task for task, names in sites if task is not None and lets & names}
    groups = {group.name for group in program.groups.values() if resources & set(group.members)}
    for name, work in program.works.items():
        if (resources | groups) & {ref.name for ref in (*work.reads, *work.writes, *work.updates)}:
            works.add(name)
    return tasks | {
        found.task
        for found in references(program)
        if found.task is not None and found.name in (works if found.wanted == "work" else resources | groups)
    }
