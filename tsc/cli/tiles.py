"""`tsc tiles`: the order of tiles, of a spec or from options alone."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tsc.cli.options import ArchOption, Defines, LanguageOption, OutputOption, Settings, StdinName

if TYPE_CHECKING:
    from tsc.report.tiles import Picture


class TilesFormat(StrEnum):
    """For people, for programs, or to look at."""

    TEXT = "text"
    JSON = "json"
    SVG = "svg"


class OrderName(StrEnum):
    """The orders that need no more than options; a table is a list of the host's."""

    LINEAR = "linear"
    GROUP_MAJOR = "group_major"
    SERPENTINE = "serpentine"
    HILBERT = "hilbert"
    LONGEST_FIRST = "longest_first"


_GROUPED = ("group_major", "serpentine", "longest_first")


def tiles(
    spec: Annotated[
        str | None, typer.Argument(metavar="[SPEC]", help="A spec with a queue, in place of `--order`.")
    ] = None,
    order: Annotated[OrderName | None, typer.Option("--order", help="The order, without a spec.")] = None,
    m: Annotated[int | None, typer.Option("--m", metavar="N", min=0, help="Tiles along `m`.")] = None,
    n: Annotated[int | None, typer.Option("--n", metavar="N", min=0, help="Tiles along `n`.")] = None,
    group: Annotated[int | None, typer.Option("--group", metavar="N", min=1, help="Tiles a group.")] = None,
    along: Annotated[
        str | None,
        typer.Option("--along", metavar="m|n", help="The grouped axis: by default `m`, of a serpentine `n`."),
    ] = None,
    reverse: Annotated[
        list[str] | None,
        typer.Option("--reverse", metavar="m|n", help="`linear`: runs backwards. Repeatable."),
    ] = None,
    reverse_rows: Annotated[
        bool | None,
        typer.Option("--reverse-rows/--keep-rows", help="`serpentine`: whether rows run backwards too."),
    ] = None,
    cluster_m: Annotated[
        int | None, typer.Option("--cluster-m", metavar="N", min=1, help="CTAs of a cluster along `m`.")
    ] = None,
    cluster_n: Annotated[
        int | None, typer.Option("--cluster-n", metavar="N", min=1, help="CTAs of a cluster along `n`.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", metavar="N", min=1, help="CTAs at a time, or clusters; by default a whole GPU's."
        ),
    ] = None,
    sms: Annotated[
        int | None,
        typer.Option("--sms", metavar="N", min=1, help="Multiprocessors, by default those of the target."),
    ] = None,
    format: Annotated[TilesFormat, typer.Option("--format", help="What it is for.")] = TilesFormat.TEXT,
    output: OutputOption = "-",
    arch: ArchOption = None,
    defines: Defines = None,
    settings: Settings = None,
    stdin_filename: StdinName = None,
    lang: LanguageOption = None,
) -> None:
    """Show an order of tiles: their numbers, who takes which, and the waves with what they load.

    Either of a spec, whose sizes are given by `-D`, or by `--order`, `--m` and `--n`.
    """
    from tsc.cli.output import deliver
    from tsc.report.tiles import render_json, render_text
    from tsc.report.tiles_svg import render_svg

    own = {
        "--order": order,
        "--m": m,
        "--n": n,
        "--group": group,
        "--along": along,
        "--reverse": reverse,
        "--reverse-rows": reverse_rows,
        "--cluster-m": cluster_m,
        "--cluster-n": cluster_n,
    }
    if spec is not None:
        picture = _of_spec(spec, own, workers, sms, arch, defines, settings, stdin_filename, lang)
    else:
        picture = _of_options(own, workers, sms, arch, defines, settings)
    _limit(picture)
    render = {TilesFormat.TEXT: render_text, TilesFormat.JSON: render_json, TilesFormat.SVG: render_svg}
    deliver(render[format](picture), output)


def _of_spec(
    spec: str,
    own: dict[str, Any],
    workers: int | None,
    sms: int | None,
    arch: str | None,
    defines: list[str] | None,
    settings: list[str] | None,
    stdin_filename: str | None,
    lang: Any,
) -> Picture:
    from tsc.cli.exits import fail
    from tsc.cli.specs import checked, overrides, resolved
    from tsc.cli.targets import first
    from tsc.report.tiles_program import Unknown, picture_of

    for option, value in own.items():
        if value is not None:
            fail(f"`{option}` goes without a spec; `--set` and `-D` change one")
    report = checked(spec, overrides(defines, settings, arch), stdin_filename, lang)
    resolved(report)
    try:
        return picture_of(first(report), workers, sms)
    except Unknown as unknown:
        fail(str(unknown))


def _of_options(
    own: dict[str, Any],
    workers: int | None,
    sms: int | None,
    arch: str | None,
    defines: list[str] | None,
    settings: list[str] | None,
) -> Picture:
    from tsc.cli.exits import fail
    from tsc.report.tiles import Picture, axes_apart
    from tsc.tiles.grid import Grid
    from tsc.tiles.registry import BY_KIND, walk_of

    if own["--order"] is None:
        fail("give a spec, or `--order` with `--m` and `--n`")
    if defines or settings or arch:
        fail("`-D`, `--set` and `--arch` change a spec, and this call has none")
    kind = own["--order"].value
    for option in ("--m", "--n"):
        if own[option] is None:
            fail(f"`--order {kind}` needs `{option}`, the tiles along `{option[2:]}`")
    takes = {
        "--along": _GROUPED,
        "--group": _GROUPED,
        "--reverse": ("linear",),
        "--reverse-rows": ("serpentine",),
    }
    for option, kinds in takes.items():
        if own[option] is not None and kind not in kinds:
            fail(f"`{option}` belongs to {' and '.join(f'`{it}`' for it in kinds)}, and this is `{kind}`")
    for axis in [*([own["--along"]] if own["--along"] else []), *(own["--reverse"] or [])]:
        if axis not in ("m", "n"):
            fail(f"`{axis}` is no axis: the axes are `m` and `n`")
    fields: dict[str, Any] = {"kind": kind}
    if kind in _GROUPED:
        if own["--group"] is None and kind != "longest_first":
            fail(f"`--order {kind}` needs `--group`, the tiles of a group")
        fields |= {"along": own["--along"] or ("n" if kind == "serpentine" else "m")}
        fields |= {"group": own["--group"] or 1}
    fields |= {"reverse": list(dict.fromkeys(own["--reverse"]))} if own["--reverse"] else {}
    fields |= {} if own["--reverse-rows"] is None else {"reverse_rows": own["--reverse-rows"]}
    found = BY_KIND[kind]
    model = found.model.model_validate(fields)
    walk = walk_of(model, ("m", "n"))
    options = {name: int(option.value or 0) for name, option in walk.options.items()}
    sizes = (own["--cluster-m"] or 1, own["--cluster-n"] or 1)
    grid = Grid(("m", "n"), (own["--m"], own["--n"]), walk, sizes, options)
    workers = workers or max(1, min(grid.count, (sms or 132) // (sizes[0] * sizes[1])))
    who = "clusters" if max(sizes) > 1 else "workers"
    notes = (f"{workers:,} {who if workers > 1 else who[:-1]}",)
    title = found.comment(model)
    return Picture(f"{kind}: {title[:1].lower()}{title[1:]}", grid, workers, axes_apart(grid.axes), notes)


def _limit(picture: Picture) -> None:
    from tsc.cli.exits import fail
    from tsc.report.tiles import MOST

    if picture.grid.count > MOST:
        fail(f"{picture.grid.count:,} tiles are too many to list; {MOST:,} are the most")
