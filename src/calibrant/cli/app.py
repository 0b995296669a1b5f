"""The command line: which commands there are. Each is in the file of its name, which is read when it is run."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer

from calibrant._version import __version__
from calibrant.cli.commands import Commands
from calibrant.cli.console import put

HELP = {
    "fit": "Calibrate on predictions and labels of rows that the model was not trained on.",
    "horizons": "Calibrate forecasts of a long table by horizon.",
    "update": "Add the rows of a file to those that a model was calibrated on.",
    "monitor": "Test whether later labels are still like the calibration rows: an alarm with few false positives.",
    "predict": "Write calibrated quantiles, intervals and probabilities for each row.",
    "evaluate": "Score the predictions before and after calibration, side by side; without --model, as they are.",
    "report": "Write a page with text and charts: how good the forecasts are, before and after calibration.",
    "inspect": "Show what a model file holds, and what it guarantees.",
    "demo": "Run the other commands on a small example.",
}
"""The commands, in the order of `calibrant --help`."""


class Calibrant(Commands):
    """Commands whose help is known before their files are read: `calibrant --help` waits for no library."""

    def loaded(self, name: str | None, command: Any) -> Any:
        """The command of a file."""
        del command
        return load(str(name))


def load(name: str) -> Any:
    """The command of this name."""
    return getattr(import_module(f"calibrant.cli.{name}"), name)


def _version(asked: bool) -> None:  # noqa: FBT001 - typer calls it
    if asked:
        put(__version__)
        raise typer.Exit


def calibrant(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Calibrated predictive distributions from the predictions of any regression model."""


app: typer.Typer = typer.Typer(
    cls=Calibrant,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    epilog="Try: calibrant demo. Files may be .csv, .csv.gz, .parquet, .pq, .feather, .arrow or .ipc.",
)
app.callback()(calibrant)
for name, words in HELP.items():
    app.command(name, help=words)(lambda: None)
