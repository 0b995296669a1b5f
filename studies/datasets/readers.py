"""From the bytes of a file to a pandas frame of features and target, each column by its name.

The files have traps: blank columns, question marks for missing values, shuffled copies on later sheets. A reader
selects by name or checks how many columns there are, so that another reading is an error and never another dataset.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from studies.datasets.dataset import need

BLANKS = r"\s+"
MONTHS = ("apr", "aug", "dec", "feb", "jan", "jul", "jun", "mar", "may", "nov", "oct", "sep")
CRIME_COLUMNS = (
    *("state", "county", "community", "communityname", "fold"),
    *(f"x{i}" for i in range(6, 128)),
    "ViolentCrimesPerPop",
)
MPG_COLUMNS = (
    *("mpg", "cylinders", "displacement", "horsepower", "weight", "acceleration", "model_year"),
    *("origin", "car"),
)
NAVAL_COLUMNS = (
    *("lp", "v", "GTT", "GTn", "GGn", "Ts", "Tp", "T48", "T1", "T2", "P48", "P1", "P2", "Pexh", "TIC", "mf"),
    *("compressor_decay", "turbine_decay"),
)
CONCRETE_COLUMNS = (
    *("Cement", "Blast Furnace Slag", "Fly Ash", "Water", "Superplasticizer", "Coarse Aggregate", "Fine Aggregate"),
    *("Age", "Concrete compressive strength"),
)


def numbered(count: int, target: str) -> tuple[str, ...]:
    """x1 ... x`count`, then the target: names for columns that have none."""
    return (*(f"x{i}" for i in range(1, count + 1)), target)


@dataclass(frozen=True)
class Headed:
    """Columns of text under a line of names."""

    separator: str = ","

    def __call__(self, content: bytes) -> Any:
        """All columns."""
        return _text(content, sep=self.separator)


@dataclass(frozen=True)
class Headless:
    """Columns of text without a line of names: these are given here, one for each."""

    names: tuple[str, ...]
    separator: str = ","

    def __call__(self, content: bytes) -> Any:
        """All columns, named; ? is a missing value."""
        frame = _text(content, sep=self.separator, header=None, na_values="?")
        # Checked, because pandas takes columns beyond the names for row labels, and invents those that lack.
        if frame.shape[1] != len(self.names):
            raise ValueError(f"there must be {len(self.names)} columns, got {frame.shape[1]}")
        frame.columns = list(self.names)
        return frame


@dataclass(frozen=True)
class Sheet:
    """The first sheet of an .xlsx workbook: the named columns of the rows that are not blank there."""

    columns: tuple[str, ...]

    def __call__(self, content: bytes) -> Any:
        """The named columns."""
        need("openpyxl")
        frame = need("pandas").read_excel(io.BytesIO(content), sheet_name=0, engine="openpyxl")
        return _select(frame, self.columns).dropna(how="all")


def concrete(content: bytes) -> Any:
    """An old .xls sheet, whose headings go on after the name with the unit, sometimes after two blanks."""
    # Not by pandas, which deprecates its xlrd engine since 3.1.
    sheet = need("xlrd").open_workbook(file_contents=content).sheet_by_index(0)
    headings, *rows = (sheet.row_values(i) for i in range(sheet.nrows))
    return concrete_columns(need("pandas").DataFrame(rows, columns=headings))


def concrete_columns(frame: Any) -> Any:
    """The nine columns of concrete under their short names."""
    return _select(frame.rename(columns=lambda heading: str(heading).split("(")[0].strip()), CONCRETE_COLUMNS)


def crime(content: bytes) -> Any:
    """Without the five columns that say which community, the columns that few filled in, and then incomplete rows."""
    frame = Headless(CRIME_COLUMNS)(content)
    frame = frame.drop(columns=list(CRIME_COLUMNS[:5]))
    return frame.loc[:, frame.isna().sum() <= 100].dropna()


def forest_fires(content: bytes) -> Any:
    """`day` is dropped and `month` becomes a column for each month but the last in the alphabet, September.

    That one follows from the other eleven; dropping it is what the study did.
    """
    frame = Headed()(content)
    months = _one_hot(frame["month"], "month", MONTHS).drop(columns="month_sep")
    return frame.drop(columns=["month", "day"]).join(months)


def mpg(content: bytes) -> Any:
    """Without the name of the car and the rows whose horsepower is missing; `origin` becomes three columns."""
    frame = Headless(MPG_COLUMNS, BLANKS)(content).drop(columns="car").dropna()
    return frame.drop(columns="origin").join(_one_hot(frame["origin"], "origin", (1, 2, 3)))


def naval(content: bytes) -> Any:
    """Without the other label, the compressor's decay. T1 and P1 are constant, and stay."""
    return Headless(NAVAL_COLUMNS, BLANKS)(content).drop(columns="compressor_decay")


def arrays(content: bytes) -> Any:
    """An .npz of the arrays X and y, whose columns have no names."""
    pandas = need("pandas")
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        X, y = (stored[name] for name in _present(stored.files, ("X", "y")))
    frame = pandas.DataFrame(X, columns=list(numbered(X.shape[1], "y")[:-1]))
    return frame.assign(y=y)


def _text(content: bytes, **options: Any) -> Any:
    pandas = need("pandas")
    # Before 3.1 the parser that pandas takes by default is off by one unit in the last place now and then
    # (in 3% of fb-comment1); since then it is exact, and the choice deprecated.
    if tuple(map(int, pandas.__version__.split(".")[:2])) < (3, 1):
        options["float_precision"] = "round_trip"
    return pandas.read_csv(io.BytesIO(content), **options)


def _select(frame: Any, columns: Sequence[str]) -> Any:
    return frame[_present(list(frame.columns), columns)]


def _present(names: Sequence[Any], wanted: Sequence[str]) -> list[str]:
    missing = [name for name in wanted if name not in names]
    if missing:
        raise ValueError(f"there is no {', '.join(missing)} among {', '.join(map(str, names))}")
    return list(wanted)


def _one_hot(column: Any, prefix: str, values: Sequence[Any]) -> Any:
    """A column of zeros and ones for each value, also for one that does not occur."""
    strange = column[~column.isin(list(values))]
    if len(strange):
        raise ValueError(f"{column.name} must be one of {', '.join(map(str, values))}, got {strange.iloc[0]!r}")
    return need("pandas").DataFrame({f"{prefix}_{value}": (column == value).astype(float) for value in values})
