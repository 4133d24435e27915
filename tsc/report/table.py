"""`tsc table`: the schedule table with all tasks side by side, the register budget, the map of memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tsc.program.model import Program, Task
from tsc.program.storage import TENSOR_SLOT_BYTES, allocated_columns
from tsc.report.budget import BarrierArray, barrier_arrays, memory_map, register_limit, warpgroups
from tsc.report.columns import Cell, Column, columns, rows
from tsc.report.tree import headline

BAR, LINE, CROSS = "│", "─", "┼"


def render_text(program: Program) -> str:
    """Return the table and the maps as text for a terminal."""
    parts = [
        f"{headline(program)}\n",
        _schedule(program),
        _rings(program),
        _registers(program),
        _shared(program),
        _tensor(program),
    ]
    return "\n".join(part for part in parts if part)


# ---- the schedule ------------------------------------------------------------------------------------------


def _schedule(program: Program) -> str:
    shown = columns(program)
    lines = [(section, cells) for section, cells in rows(program, shown)]
    texts = [[_cell(cells[i]) for _, cells in lines] for i in range(len(shown))]
    heads = [_heads(column) for column in shown]
    tall = max((len(head) for head in heads), default=0)
    widths = [max(map(len, [*heads[i], *_joined(texts[i])]), default=0) for i in range(len(shown))]
    found = ["schedule, with the stage and the phase of each ring step in the first round"]
    for i in range(tall):
        found.append(_row("", [head[i] if i < len(head) else "" for head in heads], widths))
    before = None
    for number, (section, _) in enumerate(lines):
        if section != before:
            found.append(f"{LINE * 7}{CROSS}" + CROSS.join(LINE * (width + 2) for width in widths))
            before = section
        cells = [
            f"{text:{widths[i] - len(tag)}}{tag}" if tag else text
            for i, (text, tag) in enumerate(column[number] for column in texts)
        ]
        found.append(_row(section, cells, widths))
    return "".join(f"{line.rstrip()}\n" for line in found)


def _row(section: str, cells: Sequence[str], widths: Sequence[int]) -> str:
    body = f" {BAR} ".join(f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True))
    return f"{section:6} {BAR} {body}"


def _cell(cell: Cell | None) -> tuple[str, str]:
    if cell is None:
        return "", ""
    number = "" if cell.index is None else f"#{cell.index}"
    return f"{number:4}{'  ' * cell.depth}{cell.text}{' +' if cell.derived else ''}", cell.tag


def _joined(cells: Sequence[tuple[str, str]]) -> list[str]:
    return [f"{text}  {tag}" if tag else text for text, tag in cells]


def _heads(column: Column) -> list[str]:
    task = column.tasks[0]
    parts = ["one thread" if task.single else f"{task.threads} threads"]
    parts += [f"{task.registers} registers"] if task.registers is not None else []
    parts += ["leader of a pair"] if task.ctas == "leader" else []
    parts += ["derived"] if task.derived else []
    each = " each" if len(column.tasks) > 1 else ""
    return [
        ", ".join(it.label for it in column.tasks),
        ", ".join(_warps(it) for it in column.tasks),
        ", ".join(parts) + each,
    ]


def _warps(task: Task) -> str:
    if task.first_warp is None or task.warps is None:
        return "warps unknown"
    last = task.first_warp + task.warps - 1
    return f"warp {last}" if task.warps == 1 else f"warps {task.first_warp} to {last}"


# ---- rings, registers, memory ------------------------------------------------------------------------------


def _rings(program: Program) -> str:
    lines = []
    for (name, copy), ring in program.pipelines.items():
        label = f"{name}[{copy}]" if program.memories[name].copies > 1 else name
        loaded = "at run time" if ring.tx_bytes is None else f"{ring.tx_bytes:,}" if ring.tx_bytes else ""
        arrivals = ("", "") if ring.store_ring else (str(ring.full_arrivals), str(ring.empty_arrivals))
        readers = ", ".join([*ring.consumers, *(f"{it} (observes)" for it in ring.observers)])
        lines.append(
            [label, ring.kind, str(ring.stages), *arrivals, loaded, ", ".join(ring.producers), readers]
        )
    if program.queue is not None and (answers := program.queue.answers) is not None:
        counts = [str(answers.stages), str(answers.full_arrivals), str(answers.empty_arrivals)]
        loaded = f"{answers.tx_bytes:,}" if answers.tx_bytes else ""
        users = [answers.scheduler, ", ".join(answers.takers)]
        lines.append([program.queue.name, answers.kind, *counts, loaded, *users])
    header = ["ring", "kind", "stages", "full", "empty", "bytes loaded", "producers", "consumers"]
    return _grid("rings, with the arrivals of a phase", header, lines, "llrrrrll")


def _registers(program: Program) -> str:
    groups = warpgroups(program)
    lines = []
    for group in groups:
        first, last = group.warps
        asked = "setmaxnreg" if group.set_by_task else "what is left" if _any_asks(program) else "compiler's"
        warps = f"warp {first}" if first == last else f"warps {first} to {last}"
        count = str(group.registers) if _any_asks(program) else f"up to {group.registers}"
        owners = ", ".join(group.tasks) or "(padding)"
        lines.append([str(group.number), warps, count, asked, f"{group.total:,}", owners])
    if not lines:
        return ""
    limit, total = register_limit(program), sum(group.total for group in groups)
    each = program.spec.launch.ctas_per_sm
    share = f", a share of {each} of a multiprocessor's" if each > 1 else ""
    lines.append(["", "", "", "", f"{total:,}", f"of {limit:,}{share}"])
    header = ["warpgroup", "warps", "a thread", "set by", "registers", "tasks"]
    return _grid("registers", header, lines, "rlrlrl")


def _any_asks(program: Program) -> bool:
    return any(task.registers is not None for task in program.tasks)


def _shared(program: Program) -> str:
    lines = []
    for place in memory_map(program):
        lines.append(
            [
                f"{place.offset:,}",
                f"{place.size:,}",
                place.name,
                f"{place.stages} x {place.stage_size:,}" if place.stages is not None else "",
                f"{place.align:,}" if place.name != "(padding)" else "",
                ", ".join(map(str, place.swizzle)),
                "; ".join(
                    [
                        *(f"{name} at {at:,}" for name, at, _ in place.buffers if len(place.buffers) > 1),
                        *([f"over {place.over}"] if place.over else []),
                    ]
                ),
            ]
        )
    for barrier in barrier_arrays(program):
        lines.append(
            [
                f"{barrier.offset:,}",
                f"{8 * barrier.count:,}",
                barrier.name,
                f"{barrier.count} x 8",
                "8",
                "",
                _counted(barrier),
            ]
        )
    if program.tensor_slot is not None:
        note = "the address of tensor memory"
        lines.append([f"{program.tensor_slot:,}", str(TENSOR_SLOT_BYTES), "tensor", "", "8", "", note])
    if not lines:
        return ""
    total = f"{program.smem_bytes or 0:,}"
    limit = f" of {program.target.smem_bytes:,}" if program.target is not None else ""
    lines.append([total, "", "(end)", "", "", "", f"{total}{limit}"])
    header = ["offset", "bytes", "shared memory", "stages", "align", "swizzle", ""]
    return _grid("", header, lines, "rrlrrrl")


def _counted(barrier: BarrierArray) -> str:
    note = f"{barrier.arrivals} arrival{'s' * (barrier.arrivals != 1)}"
    if barrier.bytes is None:
        return f"{note} and bytes"
    return f"{note} and {barrier.bytes:,} bytes" if barrier.bytes else note


def _tensor(program: Program) -> str:
    lines = [
        [
            str(place.offset),
            str(place.size),
            place.name,
            f"{place.stages} x {place.stage_size}" if place.stages is not None else "",
            f"over {place.over}" if place.over else "",
        ]
        for place in memory_map(program, "tmem")
    ]
    if not lines:
        return ""
    needed = program.tmem_columns or 0
    taken = allocated_columns(needed)
    limit = f" of {program.target.tmem_columns}" if program.target is not None else ""
    lines.append([str(needed), "", "(end)", "", f"{taken}{limit} allocated"])
    return _grid("", ["column", "columns", "tensor memory", "stages", ""], lines, "rrlrl")


def _grid(title: str, header: Sequence[str], lines: Sequence[Sequence[str]], align: str) -> str:
    """Lay out lines below a header, columns to the left or right as `align` says; nothing for no lines."""
    if not lines:
        return ""
    widths = [max(len(line[i]) for line in [header, *lines]) for i in range(len(header))]
    keep = [i for i, width in enumerate(widths) if any(line[i] for line in lines)]
    found = [title] if title else []
    for line in [header, *lines]:
        cells = [f"{line[i]:>{widths[i]}}" if align[i] == "r" else f"{line[i]:<{widths[i]}}" for i in keep]
        found.append("  ".join(cells).rstrip())
    return "".join(f"{line}\n" for line in found)


# ---- for programs ------------------------------------------------------------------------------------------


def render_json(program: Program) -> str:
    """Return the same as JSON: columns, rows of cells, rings, warpgroups, memory and barriers."""
    shown = columns(program)
    data: dict[str, Any] = {
        "version": 1,
        "kernel": program.kernel,
        "target": [program.arch],
        "columns": [[task.label for task in column.tasks] for column in shown],
        "rows": [
            {"section": section, "cells": [_cell_json(cell) for cell in cells]}
            for section, cells in rows(program, shown)
        ],
        "rings": [
            {
                "ring": name,
                "copy": copy,
                "kind": ring.kind,
                "stages": ring.stages,
                "full_arrivals": None if ring.store_ring else ring.full_arrivals,
                "empty_arrivals": None if ring.store_ring else ring.empty_arrivals,
                "bytes_loaded": ring.tx_bytes,
                "producers": list(ring.producers),
                "consumers": list(ring.consumers),
                "observers": list(ring.observers),
            }
            for (name, copy), ring in program.pipelines.items()
        ],
        "queue": _queue_json(program),
        "registers": {
            "limit": register_limit(program),
            "warpgroups": [
                {
                    "warps": list(group.warps),
                    "tasks": list(group.tasks),
                    "registers": group.registers,
                    "set_by_task": group.set_by_task,
                    "total": group.total,
                }
                for group in warpgroups(program)
            ],
        },
        "shared_memory": {
            "bytes": program.smem_bytes,
            "limit": program.target.smem_bytes if program.target is not None else None,
            "places": _places_json(program, "smem"),
            "barriers": [
                {
                    "name": barrier.name,
                    "offset": barrier.offset,
                    "count": barrier.count,
                    "arrivals": barrier.arrivals,
                    "bytes_loaded": barrier.bytes,
                }
                for barrier in barrier_arrays(program)
            ],
        },
        "tensor_memory": {
            "columns": program.tmem_columns,
            "allocated": allocated_columns(program.tmem_columns or 0),
            "slot": program.tensor_slot,
            "places": _places_json(program, "tmem"),
        },
    }
    return json.dumps(data, indent=2) + "\n"


def _queue_json(program: Program) -> dict[str, Any] | None:
    queue = program.queue
    if queue is None:
        return None
    found: dict[str, Any] = {"queue": queue.name, "policy": queue.policy}
    if queue.answers is not None:
        found |= {
            "kind": queue.answers.kind,
            "stages": queue.answers.stages,
            "full_arrivals": queue.answers.full_arrivals,
            "empty_arrivals": queue.answers.empty_arrivals,
            "bytes_loaded": queue.answers.tx_bytes,
            "scheduler": queue.answers.scheduler,
            "takers": list(queue.answers.takers),
        }
    return found


def _cell_json(cell: Cell | None) -> dict[str, Any] | None:
    if cell is None:
        return None
    found: dict[str, Any] = {"section": cell.section, "index": cell.index, "text": cell.text}
    found |= {"depth": cell.depth, "derived": cell.derived}
    if cell.ring is not None:
        found |= {"ring": cell.ring, "stage": cell.stage, "phase": cell.phase}
    return found | {"route": list(cell.step.route) if cell.step is not None else None}


def _places_json(program: Program, kind: str) -> list[dict[str, Any]]:
    return [
        {
            "name": place.name,
            "offset": place.offset,
            "size": place.size,
            "stages": place.stages,
            "stage_size": place.stage_size,
            "align": place.align,
            "swizzle": list(place.swizzle),
            "buffers": [{"name": name, "offset": at, "size": size} for name, at, size in place.buffers],
            "over": place.over or None,
        }
        for place in memory_map(program, kind)
        if place.name != "(padding)"
    ]
