"""Arguments and options that several commands share, declared once."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

SpecArgument = Annotated[
    str, typer.Argument(metavar="SPEC", help="A `*.tsc.yaml` or `*.tsc.toml`; `-` is standard input.")
]
Defines = Annotated[
    list[str] | None,
    typer.Option(
        "-D", "--define", metavar="NAME=VALUE", help="Set a constant; a dim becomes one. Repeatable."
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="ROUTE=VALUE",
        help="Set any value of the spec by its route, as in `resources.ring.stages=4`. Repeatable.",
    ),
]
ArchOption = Annotated[
    str | None,
    typer.Option("--arch", metavar="SM", help="The target: one of the spec's, or another, such as `sm_90a`."),
]
StdinName = Annotated[
    str | None, typer.Option("--stdin-filename", metavar="NAME", help="The name that standard input goes by.")
]


class Language(StrEnum):
    """What a spec is written in, where its name does not say it."""

    YAML = "yaml"
    TOML = "toml"


LanguageOption = Annotated[
    Language | None, typer.Option("--lang", help="The language of the spec, if its name does not say it.")
]


class TextOrJson(StrEnum):
    """For people or for programs."""

    TEXT = "text"
    JSON = "json"


FormatOption = Annotated[TextOrJson, typer.Option("--format", help="For people or for programs.")]
SanitizeOption = Annotated[
    bool,
    typer.Option(
        "--sanitize", help="Let every thread arrive by itself, which a race checker can follow; slower."
    ),
]
AllowUnproven = Annotated[
    bool,
    typer.Option(
        "--allow-unproven",
        help="Make a warning of a schedule that is neither proved nor refuted.",
    ),
]
Budget = Annotated[
    int | None,
    typer.Option(
        "--budget",
        metavar="STATES",
        min=1,
        help="States that the proof of a schedule may look at, by default 2,000.",
        show_default=False,
    ),
]
OutputOption = Annotated[
    str, typer.Option("-o", "--output", metavar="FILE", help="Where it goes; `-` is standard output.")
]


def split(values: list[str] | None) -> tuple[str, ...]:
    """The parts of a repeatable, comma-separated option."""
    return tuple(part.strip() for value in values or () for part in value.split(",") if part.strip())
