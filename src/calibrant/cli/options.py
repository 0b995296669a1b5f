"""The options that several commands have."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Gap(StrEnum):
    """What becomes of rows that lack a number."""

    keep = "keep"
    error = "error"


PREDICTION = "Columns of the prediction"
Input = Annotated[Path, typer.Argument(metavar="FILE", help="A csv, parquet or feather file.", show_default=False)]
MaybeModel = Annotated[
    Path | None,
    typer.Option(
        "--model",
        "-m",
        metavar="FILE",
        help="The model file that fit wrote; without one the predictions of the file are evaluated as they are.",
        show_default=False,
    ),
]
Kind = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="KIND",
        help="Without --model: what the labels are, as in fit; counts, for instance.",
        show_default=False,
    ),
]
ModelFile = Annotated[
    Path, typer.Option("--model", "-m", metavar="FILE", help="The model file that fit wrote.", show_default=False)
]
ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="The model file that fit wrote.", show_default=False)
]
Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write; an old one is replaced.")
]
Point = Annotated[str | None, typer.Option(metavar="NAME", help="A point prediction.", rich_help_panel=PREDICTION)]
Rate = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="The mean of a count, such as a Poisson model predicts.", rich_help_panel=PREDICTION
    ),
]
Mean = Annotated[str | None, typer.Option(metavar="NAME", help="A mean, with --std.", rich_help_panel=PREDICTION)]
Std = Annotated[str | None, typer.Option(metavar="NAME", help="A standard deviation.", rich_help_panel=PREDICTION)]
Lower = Annotated[
    str | None, typer.Option(metavar="NAME", help="A lower bound, with --upper.", rich_help_panel=PREDICTION)
]
Upper = Annotated[str | None, typer.Option(metavar="NAME", help="An upper bound.", rich_help_panel=PREDICTION)]
_PAIRS = {"metavar": "NAME:LEVEL,...", "help": "Quantiles and their levels.", "rich_help_panel": PREDICTION}
QuantilePairs = Annotated[str | None, typer.Option("--quantiles", **_PAIRS)]
QuantileColumns = Annotated[str | None, typer.Option("--quantile-columns", **_PAIRS)]
Samples = Annotated[
    str | None,
    typer.Option(metavar="NAME,...", help="Draws; 's*' is every column that matches.", rich_help_panel=PREDICTION),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target", metavar="NAME", help="The column of the labels; as in fit if not given.", show_default=False
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="NAME",
        help="A column of likelihood ratios, of new rows to calibration rows; as in fit if not given.",
        show_default=False,
    ),
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="NAME,...",
        help="The columns that name the group of a row; as in fit if not given.",
        show_default=False,
    ),
]
Seed = Annotated[int | None, typer.Option(min=0, help="Seed of the random interpolation: one draw per row.")]
Missing = Annotated[
    Gap,
    typer.Option(
        "--missing", help="Rows with a missing number: left out and counted (predict writes NaN), or an error."
    ),
]
OutputQuantiles = Annotated[
    str | None, typer.Option(metavar="LEVEL,...", help="Write the quantiles at these levels, as q0.05 and so on.")
]
OutputInterval = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COVERAGE,...",
        help="Write the bounds of the centred interval, as lower and upper; of several, as lower_0.5 and so on.",
    ),
]
Keep = Annotated[
    str,
    typer.Option(metavar="NAME,...", help="Columns to copy, before the new ones; '*' copies all.", show_default=False),
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="NAME",
        help="The column of the time, numbers or dates, which must not decrease; the order of the file if not given.",
        show_default=False,
    ),
]
TimeAxis = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="NAME",
        help="The column of the time, numbers or dates: show the forecasts over time. Rows may come in any order.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Delimiter = Annotated[
    str, typer.Option(metavar="CHARACTER", help="The separator of columns in csv files, read and written.")
]
Decimal = Annotated[
    str, typer.Option(metavar="CHARACTER", help="The decimal mark of numbers in csv files, read and written.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
