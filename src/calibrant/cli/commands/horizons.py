"""The options of `calibrant horizons`."""

from __future__ import annotations

from typing import Annotated

import typer

from calibrant.cli.console import report_errors
from calibrant.cli.lazy import module_of
from calibrant.cli.options import Debug, Decimal, Delimiter, Input, Output
from calibrant.cli.parsing import level_of

EXAMPLES = (
    "calibrant horizons cv.csv -o m.safetensors",
    "calibrant horizons cv.parquet --forecast AutoARIMA -o m.safetensors",
    "calibrant horizons prophet.csv --coverage 0.95 -o m.safetensors",
)


def horizons(
    file: Input,
    *,
    output: Output,
    forecast: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The model whose columns are calibrated: NAME, NAME-lo-90, NAME-hi-90, NAME_lower, NAME-q-0.1 and the"
            " like; the only one if not given.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[str, typer.Option(metavar="NAME", help="The column of the labels.")] = "y",
    series: Annotated[str, typer.Option(metavar="NAME", help="The column that names the series.")] = "unique_id",
    time: Annotated[str, typer.Option(metavar="NAME", help="The column of the time that is forecast.")] = "ds",
    cutoff: Annotated[str, typer.Option(metavar="NAME", help="When the forecast was made.")] = "cutoff",
    horizon: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="A column of steps ahead; they are counted if not given.", show_default=False
        ),
    ] = None,
    coverage: Annotated[
        float, typer.Option(help="Coverage of bounds whose names do not state it, such as yhat_lower.")
    ] = 0.8,
    labels: Annotated[
        str | None, typer.Option(metavar="KIND", help="What kind of number a label is, as in fit.", show_default=False)
    ] = None,
    delimiter: Delimiter = ",",
    decimal: Decimal = ".",
    debug: Debug = False,
) -> None:
    """Calibrate forecasts of a long table by horizon: rows of series, time, cutoff, label and forecast.

    predict then writes the same table back, with calibrated numbers in the columns of the forecast.
    """
    with report_errors(debug=debug, delimiter=delimiter, decimal=decimal):
        names = {"model": forecast, "target": target, "series": series, "time": time}
        names |= {"cutoff": cutoff, "horizon": horizon}
        level = level_of(str(coverage), "--coverage")
        module_of("horizons").fit(file, output, module_of("fit").labels_of(labels), {**names, "coverage": level})
