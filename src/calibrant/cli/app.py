"""The commands. Their options are in `commands`; what they do is in the other files of this folder."""

from __future__ import annotations

from typing import Annotated

import typer

from calibrant._version import __version__
from calibrant.cli.commands import (
    demo,
    evaluate,
    fit,
    horizons,
    inspect,
    monitor,
    predict,
    report,
    update,
)
from calibrant.cli.console import put
from calibrant.cli.usage import Commands

app: typer.Typer = typer.Typer(
    cls=Commands,
    help="Calibrated predictive distributions from the predictions of any regression model.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    epilog="Try: calibrant demo. Files may be .csv, .csv.gz, .parquet, .pq, .feather, .arrow or .ipc.",
)


def _version(asked: bool) -> None:  # noqa: FBT001 - typer calls it
    if asked:
        put(__version__)
        raise typer.Exit


@app.callback()
def calibrant(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Calibrated predictive distributions from the predictions of any regression model."""


COMMANDS = (
    (fit.fit, fit.EXAMPLES),
    (horizons.horizons, horizons.EXAMPLES),
    (update.update, update.EXAMPLES),
    (monitor.monitor, monitor.EXAMPLES),
    (predict.predict, predict.EXAMPLES),
    (evaluate.evaluate, evaluate.EXAMPLES),
    (report.report, report.EXAMPLES),
    (inspect.inspect, inspect.EXAMPLES),
    (demo.demo, demo.EXAMPLES),
)
"""In the order of `calibrant --help`."""

for command, examples in COMMANDS:
    app.command(epilog="\n\n".join(["Examples:", *examples]))(command)
