"""Options that commands share: those that belong together are one object."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import typer

from calibrant._arguments import percentage
from calibrant.labels.base import Labels
from calibrant.labels.named import labels_named
from calibrant.tables.columns import Columns, ColumnsError
from calibrant.tables.files import Dialect

Text = str | None
Texts = list[str] | None
PANEL = "Columns of the prediction"
EACH = "{}"
"""What stands for the name of each of several labels."""


def option(help: str, *names: str, metavar: str | None = "NAME", **more: Any) -> Any:
    """An option whose default is not shown."""
    return typer.Option(*names, help=help, metavar=metavar, **{"show_default": False, **more})


Input = Annotated[Path, typer.Argument(metavar="FILE", help="A csv, parquet or feather file.", show_default=False)]
_MODEL = "The model file that fit wrote."
ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help=_MODEL, show_default=False)]
ModelFile = Annotated[Path, option(_MODEL, "--model", "-m", metavar="FILE")]
Output = Annotated[Path, option("The file to write; an old one is replaced.", "--output", "-o", metavar="FILE")]
Target = Annotated[Text, option("The column of the labels; as in fit if not given.")]
Weights = Annotated[
    Text, option("A column of likelihood ratios, of new rows to calibration rows; as in fit if not given.")
]
By = Annotated[Texts, option("The columns that name the group of a row; as in fit if not given.", metavar="NAME,...")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of what is drawn for a row, where the model is randomised.")]
Time = Annotated[
    Text,
    option("The column of the time, numbers or dates, which must not decrease; the order of the file if not given."),
]
Missing = Annotated[
    Literal["keep", "error"],
    typer.Option(help="Rows with a missing number: left out and counted (predict writes NaN), or an error."),
]
Json = Annotated[bool, option("Print one JSON object.", "--json", metavar=None)]


@dataclass(frozen=True)
class Csv:
    """How csv files are read and written."""

    delimiter: Annotated[
        str, typer.Option(metavar="CHARACTER", help="The separator of columns in csv files, read and written.")
    ] = ","
    decimal: Annotated[
        str, typer.Option(metavar="CHARACTER", help="The decimal mark of numbers in csv files, read and written.")
    ] = "."

    def __post_init__(self) -> None:
        for name, character in asdict(self).items():
            if len(character) != 1:
                raise wrong(f"expected one character, got {character!r}", name)

    @property
    def dialect(self) -> Dialect:
        """What the options say."""
        return Dialect(self.delimiter, self.decimal)


@dataclass(frozen=True)
class PredictionColumns:
    """The columns of the prediction: those of one kind."""

    point: Annotated[Text, option("A point prediction.", rich_help_panel=PANEL)] = None
    rate: Annotated[Text, option("The mean of a count, such as a Poisson model predicts.", rich_help_panel=PANEL)] = (
        None
    )
    mean: Annotated[Text, option("A mean, with --std.", rich_help_panel=PANEL)] = None
    std: Annotated[Text, option("A standard deviation.", rich_help_panel=PANEL)] = None
    lower: Annotated[Text, option("A lower bound, with --upper.", rich_help_panel=PANEL)] = None
    upper: Annotated[Text, option("An upper bound.", rich_help_panel=PANEL)] = None
    quantiles: Annotated[
        Text, option("Quantiles and their levels.", metavar="NAME:LEVEL,...", rich_help_panel=PANEL)
    ] = None
    samples: Annotated[
        Text, option("Draws; 's*' is every column that matches.", metavar="NAME,...", rich_help_panel=PANEL)
    ] = None
    quantile_flag: ClassVar[str] = "--quantiles"

    @property
    def several(self) -> bool:
        """Whether they are named for several labels, with {} for each."""
        return any(EACH in (name or "") for name in asdict(self).values())

    def of_target(self, target: str) -> PredictionColumns:
        """Those of one of several labels."""
        given = {flag: name for flag, name in asdict(self).items() if name is not None}
        for flag, name in given.items():
            if EACH not in name:
                raise typer.BadParameter(f"{{}} must mark the target in --{flag} too, as in 'mean_{{}}'")
        return type(self)(**{flag: name.replace(EACH, target) for flag, name in given.items()})

    def columns(self, usual: Columns | None = None, **known: Any) -> Columns:
        """The columns that are named, with what else is known of a row; what is not named is as usual."""
        given = {**asdict(self), **known}
        with checked(quantiles=self.quantile_flag):
            return Columns(**given) if usual is None else usual.override(**given)


@dataclass(frozen=True)
class NewPredictionColumns(PredictionColumns):
    """The same for predict, where --quantiles are those to write."""

    quantiles: Annotated[
        Text,
        option("Quantiles and their levels.", "--quantile-columns", metavar="NAME:LEVEL,...", rich_help_panel=PANEL),
    ] = None
    quantile_flag: ClassVar[str] = "--quantile-columns"


def wrong(why: str, name: str) -> typer.BadParameter:
    """The error of an option."""
    return typer.BadParameter(why, param_hint=f"--{name.replace('_', '-')}")


def refuse(why: str, **given: Any) -> None:
    """Raise for the first of these options that was given."""
    for name, value in given.items():
        if value is not None and value is not False and value != [] and value != ():
            raise wrong(why, name)


@contextmanager
def checked(name: str | None = None, **flags: str) -> Iterator[None]:
    """What the library refuses is wrong usage, of the option of this name; `flags` are options of another name."""
    try:
        yield
    except (ValueError, TypeError) as error:
        why = (
            error.spelled(lambda each: flags.get(each, f"--{each}")) if isinstance(error, ColumnsError) else str(error)
        )
        raise (wrong(why, name) if name else typer.BadParameter(why)) from error


def names_of(given: Texts) -> tuple[str, ...]:
    """The names of an option that may be repeated, as csv has them: "a, b" in double quotes is one name."""
    parts = (part.strip() for row in csv.reader(given or [], skipinitialspace=True) for part in row)
    return tuple(dict.fromkeys(part for part in parts if part))


def numbers_of(given: Texts, name: str, number: Callable[[str, str], float] | None = None) -> tuple[float, ...]:
    """The numbers of an option that may be repeated, each of which must be given once."""
    parts = [part.strip() for text in given or [] for part in text.split(",") if part.strip()]
    try:
        found = tuple(number(part, name) if number else float(part) for part in parts)
    except ValueError:
        raise wrong(f"expected numbers, got {','.join(given or [])!r}", name) from None
    if len(set(found)) < len(found):
        raise wrong(f"give each number once, got {','.join(given or [])!r}", name)
    return found


def level(given: str | float, name: str) -> float:
    """A number in (0, 1)."""
    try:
        number = float(given)
    except ValueError:
        number = -1.0
    if not 0 < number < 1:
        raise wrong(f"expected a number strictly inside (0, 1), got {given!r}{percentage(number)}", name)
    return number


def labels_of(name: str | None, rate: str | None = None) -> Labels | None:
    """The kind of labels of a name; without one counts where there is a column of rates, else any real number."""
    with checked("labels"):
        return labels_named("counts" if name is None and rate is not None else name)
