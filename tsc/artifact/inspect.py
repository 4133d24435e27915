"""What `tsc inspect` shows of a cubin: the manifest's launch facts and what the code itself says."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from tsc.artifact.elf import Resources, read_cubin
from tsc.artifact.manifest import Manifest, manifest_of, to_json
from tsc.artifact.model import Tensor

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Inspection:
    """One cubin, read without a GPU."""

    manifest: Manifest
    resources: Resources
    assembler: str
    size: int
    """of the file, in bytes"""
    sha256: str
    """of the file"""

    def to_json(self) -> str:
        """The facts as JSON: the manifest's keys as they are, and the code's own beside them."""
        return json.dumps(self.to_dict(), indent=2)

    def to_dict(self) -> dict[str, object]:
        """The facts as plain data."""
        table: dict[str, object] = {"version": _FORMAT}
        table.update(json.loads(to_json(self.manifest)))
        needs = self.resources
        table.update(
            registers=needs.registers,
            static_smem_bytes=needs.static_smem_bytes,
            stack_bytes=needs.stack_bytes,
            named_barriers=needs.named_barriers,
            parameter_bytes=needs.parameter_bytes,
            parameters=[{"offset": one.offset, "size": one.size} for one in needs.parameters],
            assembler=self.assembler,
            cubin_bytes=self.size,
            cubin_sha256=self.sha256,
        )
        return table

    def to_text(self) -> str:
        """The facts for a reader, one subject a row."""
        manifest, needs = self.manifest, self.resources
        shared = f"{manifest.smem_bytes:,} B dynamic, {needs.static_smem_bytes:,} B static"
        rows: list[tuple[str, str]] = [
            ("kernel", f"{manifest.kernel} for {manifest.arch}"),
            ("spec", f"{manifest.spec} (sha256 {manifest.spec_sha256[:16]})"),
            ("built by", f"tsc {manifest.tsc_version}, assembler {self.assembler or 'unknown'}"),
            *_group("params", [_parameter(manifest, index) for index in range(len(manifest.params))]),
            *_group("workspace", [_workspace(manifest, index) for index in range(len(manifest.workspace))]),
            *_group("dims", [_dim(manifest, name) for name in manifest.dims]),
            *_group("constants", [f"{name} = {json.dumps(one)}" for name, one in manifest.constants.items()]),
            *_group("asserts", [condition.text or condition.expr for condition in manifest.asserts]),
            *_group("queue", _queue(manifest)),
            ("grid", " x ".join(manifest.grid)),
            ("block", _extent(manifest.block)),
            ("cluster", _extent(manifest.cluster)),
            ("shared memory", shared),
            *_group("layout", _layout(manifest)),
            ("registers", f"{_amount(needs.registers)} a thread, {_amount(needs.stack_bytes)} B of stack"),
            ("named barriers", _amount(needs.named_barriers)),
            ("launch", _occupancy(manifest.ctas_per_sm) + (", with PDL" if manifest.pdl else "")),
            ("cubin", f"{self.size:,} B (sha256 {self.sha256[:16]})"),
        ]
        width = max(len(title) for title, _ in rows) + 2
        return "\n".join(f"{title:<{width}}{text}".rstrip() for title, text in rows) + "\n"


def _occupancy(ctas: int) -> str:
    return f"{ctas} {'CTA' if ctas == 1 else 'CTAs'} a multiprocessor"


def inspect(data: bytes) -> Inspection:
    """Read a cubin's bytes. Raises ArtifactError if they are no cubin of tsc."""
    cubin = read_cubin(data)
    manifest = manifest_of(cubin)
    return Inspection(
        manifest=manifest,
        resources=cubin.resources(manifest.kernel),
        assembler=cubin.assembler,
        size=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
    )


def _group(title: str, lines: list[str]) -> list[tuple[str, str]]:
    return [(title if index == 0 else "", line) for index, line in enumerate(lines)]


def _amount(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"


def _extent(values: tuple[int, int, int]) -> str:
    return " x ".join(str(value) for value in values)


def _parameter(manifest: Manifest, index: int) -> str:
    param = manifest.params[index]
    if not isinstance(param, Tensor):
        return f"{param.name}: {param.dtype}"
    text = f"{param.name}: {param.access} {param.dtype} [{', '.join(param.shape)}]"
    if param.order != tuple(range(len(param.shape))):
        text += f", order {list(param.order)}"
    needs = [f"aligned to {param.align:,} B"] if param.align > 1 else []
    if param.packed:
        needs.append("packed")
    elif param.stride_multiple > 1:
        needs.append(f"strides multiples of {param.stride_multiple:,}")
    if param.padded:
        needs.append("padded")
    return ", ".join([text, *needs])


def _workspace(manifest: Manifest, index: int) -> str:
    entry = manifest.workspace[index]
    return f"{entry.name}: {entry.dtype} [{', '.join(entry.shape)}], zeroed {entry.zero.replace('_', ' ')}"


def _dim(manifest: Manifest, name: str) -> str:
    dim = manifest.dims[name]
    text = f"{name}: {dim.min:,} to {dim.max:,}"
    return f"{text}, multiple of {dim.multiple_of:,}" if dim.multiple_of > 1 else text


def _queue(manifest: Manifest) -> list[str]:
    queue = manifest.queue
    if queue is None:
        return []
    text = f"{queue.name}: {queue.policy}"
    return [f"{text}, {queue.stages} answer{_plural(queue.stages)} in flight" if queue.stages else text]


def _layout(manifest: Manifest) -> list[str]:
    lines = [
        f"{one.offset:>7,}  {one.name}: {one.bytes:,} B in {one.stages} stage{_plural(one.stages)}"
        + (f", over {one.over}" if one.over else "")
        for one in manifest.layout
    ]
    lines += [
        f"{barrier.offset:>7,}  {barrier.name}: {barrier.count} mbarrier{_plural(barrier.count)}, "
        f"{barrier.arrivals} arrival{_plural(barrier.arrivals)} each"
        for barrier in manifest.barriers
    ]
    return lines


def _plural(count: int) -> str:
    return "" if count == 1 else "s"
