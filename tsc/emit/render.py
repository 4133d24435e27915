"""A kernel's plan as CUDA text: templates from `codegen/`, statements indented and long lines folded here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from tsc.emit.headers import body, needed
from tsc.emit.plan import Comment, Compound, Instruction, Item, KernelPlan, SnippetFunction, Statement
from tsc.resources import folder

WIDTH = 110
SOURCE_NAME = "kernel.cu"  # what the compiler calls the text, for `#line`
_RESTORE = "#line @"
_MANIFEST_WIDTH = 90


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(folder("codegen")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


@cache
def _statements() -> Any:
    return _environment().get_template("statements.cu.j2").module


@cache
def _template(text: str) -> Template:
    return _environment().from_string(text)


def render(plan: KernelPlan, *, headers: bool = True, line: bool = True) -> str:
    """Print a plan; without `headers` they are included by name, without `line` nothing points into the
    spec.
    """
    tasks = [
        {
            "name": task.name,
            "heading": task.heading,
            "comment": task.comment,
            "template": task.template,
            "parameters": task.parameters,
            "body": "\n".join(
                [*_block(task.declarations, 1), *([""] if task.declarations else []), *_block(task.body, 1)]
            ),
        }
        for task in plan.tasks
    ]
    fields: dict[str, Any] = {
        "plan": plan,
        "tasks": tasks,
        "roles": "\n".join(_block(plan.roles, 1)),
        "manifest": list(_manifest(plan.manifest)),
        "clustered": plan.cluster != (1, 1, 1),
        "headers": [],
        "includes": [],
        "signature": _signature,
        "entry": "\n".join(_fold(f"{plan.kernel}({', '.join(p.declared for p in plan.parameters)})")),
        "snippet_text": lambda snippet: _snippet(snippet, line),
    }
    template = _environment().get_template("kernel.cu.j2")
    own = template.render(fields)
    used = needed(own)
    if headers:
        fields["headers"] = [{"name": header.name, "body": body(header)} for header in used]
    else:
        fields["includes"] = [header.name for header in used]
    return _restored(template.render(fields))


def _restored(text: str) -> str:
    """Let `#line` after a snippet name the generated text's own next line again."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if line == _RESTORE:
            lines[i] = f'#line {i + 2} "{SOURCE_NAME}"'
    return "\n".join(lines)


def _manifest(manifest: Any) -> Iterable[str]:
    """Yield the manifest as raw string literals, one a line."""
    text = json.dumps(manifest, separators=(", ", ": "))
    mark = "json"
    while f"){mark}" in text:
        mark += "_"
    while text:
        end = (
            len(text)
            if len(text) <= _MANIFEST_WIDTH
            else text.rfind(" ", 0, _MANIFEST_WIDTH) + 1 or _MANIFEST_WIDTH
        )
        yield f'R"{mark}({text[:end]}){mark}"'
        text = text[end:]


def _signature(name: str, parameters: Sequence[str]) -> str:
    return "\n".join(_fold(f"DEVICE void {name}({', '.join(parameters)})"))


def _snippet(snippet: SnippetFunction, line: bool) -> str:
    """Print a snippet's own lines, with the places they have in the spec."""
    raw = 'R"' in snippet.text
    printed: list[str] = []
    expected: int | None = None
    for i, text in enumerate(snippet.text.split("\n")):
        place = snippet.lines[i] if i < len(snippet.lines) else None
        if line and place is not None and place != expected:
            source = snippet.source.replace("\\", "\\\\").replace('"', '\\"')
            printed.append(f'#line {place} "{source}"')
        expected = None if place is None else place + 1
        printed.append(text if raw or not text.strip() else f"    {text}")
    if line and snippet.lines:
        printed.append(_RESTORE)
    return "\n".join(printed)


# ---- statements --------------------------------------------------------------------------------------------


def _macro(item: Statement | Compound) -> list[str]:
    return _lines(str(getattr(_statements(), item.macro)(**item.fields)))


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.split("\n") if line.strip()]


def _block(items: Sequence[Item], depth: int) -> list[str]:
    printed: list[str] = []
    for item in items:
        printed.extend(_item(item, depth))
    return printed


def _item(item: Item, depth: int) -> list[str]:
    indent = "  " * depth
    match item:
        case Comment(text=text):
            return [f"{indent}// {text}"]
        case Statement():
            return [folded for line in _macro(item) for folded in _indented(line, indent)]
        case Instruction(template=template, fields=fields):
            return [
                folded
                for line in _lines(_template(template).render(fields))
                for folded in _indented(line, indent)
            ]
        case Compound():
            return _compound(item, depth)


def _indented(line: str, indent: str) -> list[str]:
    if line.startswith("#"):
        return [line]
    inner = re.match(r" *", line)
    own = indent + (inner.group() if inner else "")
    return [own + part for part in _fold(line.strip(), WIDTH - len(own))]


def _compound(item: Compound, depth: int) -> list[str]:
    indent = "  " * depth
    head = _macro(item)
    inner = _block(item.body, depth + 1)
    if (
        item.macro == "if"
        and not item.otherwise
        and len(inner) == 1
        and not inner[0].lstrip().startswith(("//", "#", "if", "for"))
    ):
        short = f"{indent}{head[0]} {inner[0].strip()}"
        if len(short) <= WIDTH:
            return [short]
    *before, last = head or [""]
    opening = [folded for line in before for folded in _indented(line, indent)]
    folded = _indented(f"{last} {{".strip(), indent)
    printed = [*opening, *folded, *inner]
    if not item.otherwise:
        return [*printed, f"{indent}}}"]
    follower = item.otherwise[0]
    if len(item.otherwise) == 1 and isinstance(follower, Compound) and follower.macro == "if":
        rest = _compound(follower, depth)
        if rest[0].endswith("{"):
            return [*printed, f"{indent}}} else {rest[0].strip()}", *rest[1:]]
    return [*printed, f"{indent}}} else {{", *_block(item.otherwise, depth + 1), f"{indent}}}"]


def _fold(line: str, width: int = WIDTH, outer: bool = True) -> list[str]:
    """Break a long line behind a comma that is outside of template arguments, and indent what follows by
    four.
    """
    if len(line) <= width or line.lstrip().startswith("//"):
        return [line]
    depth, cut = 0, -1
    for i, character in enumerate(line[: width - 1]):
        if character == "<" and i and (line[i - 1].isalnum() or line[i - 1] == "_"):
            depth += 1
        elif character == ">" and depth:
            depth -= 1
        elif character == "," and not depth and line[i + 1] == " ":
            cut = i
    if cut < width // 4:
        return [line]
    rest = _fold(line[cut + 2 :], width - 4 if outer else width, outer=False)
    return [line[: cut + 1], *(f"    {part}" if outer else part for part in rest)]
