"""`tsc schema`: the JSON Schema of the language."""

from __future__ import annotations

from tsc.cli.options import OutputOption


def schema(output: OutputOption = "-") -> None:
    """Print the JSON Schema that lets an editor complete and check specs."""
    from tsc.cli.output import deliver, to_json
    from tsc.spec.schema import json_schema

    deliver(to_json(json_schema()), output)
