"""The options of `calibrant demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from calibrant.cli.console import report_errors
from calibrant.cli.lazy import module_of
from calibrant.cli.options import Debug

EXAMPLES = ("calibrant demo", "calibrant demo --to demo")


def demo(
    context: typer.Context,
    *,
    to: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where to write; a new temporary folder if not given.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Run the other commands on a small example."""
    with report_errors(debug=debug):
        commands = context.find_root().command
        module_of("demo").demo(to, lambda arguments: commands(list(arguments), standalone_mode=False))
