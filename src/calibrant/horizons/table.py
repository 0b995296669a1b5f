"""Forecasts in a long table: series, time, cutoff, and so how many steps ahead each row is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import first_and_count
from calibrant._batch import shared, take_rows
from calibrant._types import Frame, Table
from calibrant._words import in_all
from calibrant.horizons.columns import ForecastColumns, find_forecast

Counts = NDArray[np.int64]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class LongColumns:
    """The names of the columns of a long table. None is a column that it does not have."""

    forecast: ForecastColumns
    target: str = "y"
    series: str | None = "unique_id"
    time: str = "ds"
    cutoff: str | None = "cutoff"
    """When a forecast was made: the time of the last label that was known."""
    horizon: str | None = None
    """How many steps ahead a row is; without it, rows are counted from the cutoff on."""


def columns_of(
    frame: Table,
    model: str | None = None,
    target: str = "y",
    series: str | None = "unique_id",
    time: str = "ds",
    cutoff: str | None = "cutoff",
    horizon: str | None = None,
    coverage: float = 0.8,
) -> LongColumns:
    """The columns of a table, with those that it need not have left out; see `HorizonCalibrator.fit`."""
    names = opened(frame).columns
    series = None if series == "unique_id" and series not in names else series  # a table of one series
    cutoff = None if horizon is not None and cutoff not in names else cutoff
    needed = [name for name in (target, series, time, cutoff, horizon) if name is not None]
    _check_columns(names, [name for name in needed if name != cutoff])
    _check_columns(names, [cutoff], ": name the column of the cutoffs by cutoff=, or one of the steps by horizon=")
    forecast = find_forecast(names, model, coverage=coverage, exclude=needed)
    return LongColumns(forecast, target, series, time, cutoff, horizon)


@dataclass(frozen=True, eq=False)
class LongRows:
    """The rows of a long table, in its order."""

    prediction: Any
    horizon: Counts
    time: Counts
    """When the label is known, as the number of that time among all times of the table."""
    cutoff: Counts | None
    """When the forecast was made, among the same times."""
    series: Counts
    times: list[Any] = shared()
    """All times, in order."""
    y: Numbers | None = None
    bound: dict[str, Numbers] | None = None

    @classmethod
    def of(cls, frame: Table, columns: LongColumns, *, labels: bool, bounds: Iterable[str] = ()) -> LongRows:
        """The rows of a table; without a column of cutoffs, those of a series were forecast all at once.

        Args:
            frame: The table.
            columns: The names of its columns.
            labels: Also read the labels, NaN where there is none.
            bounds: The columns that bound the labels.
        """
        table, names = opened(frame), columns
        needed = [*names.forecast.names, names.time, *bounds, names.series, names.horizon]
        _check_columns(table.columns, [*needed, names.target if labels else None])
        if len(table) == 0:
            raise ValueError("the table has no rows")
        prediction = names.forecast.prediction(lambda name: numbers_in(table, name))
        y = numbers_in(table, names.target, gaps=True) if labels else None
        bound = {name: numbers_in(table, name) for name in bounds} or None
        series = np.zeros(len(table), np.int64)
        if names.series is not None:
            text = _whole(table, names.series).cast(nw.String).to_numpy().astype(str)
            series = np.unique(text, return_inverse=True)[1]
        cutoffs = [names.cutoff] if names.cutoff in table.columns else []
        times, (time, *made) = times_in_order(table, names.time, *cutoffs)  # type: ignore[arg-type]
        cutoff = made[0] if made else None
        steps = _steps_ahead(series, time, cutoff, times, names)
        if names.horizon is not None:
            steps = _given_steps(table, names.horizon)
        return cls(prediction, steps, time, cutoff, series, times, y, bound)

    @property
    def shape(self) -> tuple[int]:
        """(n,)."""
        return (len(self.horizon),)

    def __len__(self) -> int:
        return len(self.horizon)

    def __getitem__(self, index: Any) -> LongRows:
        """Some of the rows."""
        bound = None if self.bound is None else {name: values[index] for name, values in self.bound.items()}
        return replace(take_rows(self, index), bound=bound)

    def in_order(self) -> LongRows:
        """The rows in the order in which the forecasts were made."""
        made = self.time - self.horizon if self.cutoff is None else self.cutoff
        return self[np.lexsort((self.horizon, self.series, made))]


# ---- what stands in them ---------------------------------------------------------------------------------------------


def numbers_in(frame: Any, name: str, *, gaps: bool = False) -> Numbers:
    """A column of finite numbers; with `gaps`, NaN where one is missing."""
    table = opened(frame)
    _check_columns(table.columns, [name])
    column = table[name]
    if not column.dtype.is_numeric():
        raise TypeError(f"column {name!r} must hold numbers, got {column.dtype}")
    values = np.asarray(column.cast(nw.Float64).to_numpy(), np.float64)
    bad = np.isinf(values) if gaps else ~np.isfinite(values)
    if bad.any():
        row, count = first_and_count(bad)
        what = "infinite" if gaps else "missing or infinite"
        raise ValueError(f"column {name!r} is {what} in row {row} ({in_all(count)})")
    return values


def times_in_order(frame: Any, *names: str) -> tuple[list[Any], list[Counts]]:
    """All times in some columns, in order; and for each column the number of each row's time among them."""
    columns = [_whole(opened(frame), name) for name in names]
    values, kinds = [column.to_numpy() for column in columns], [column.dtype for column in columns]
    alike = {(kind.is_numeric(), kind.is_temporal(), getattr(kind, "time_zone", None)) for kind in kinds}
    named = " and ".join(map(repr, names))
    try:
        if len(alike) > 1:
            raise TypeError
        _, first, codes = np.unique(np.concatenate(values), return_index=True, return_inverse=True)
    except TypeError:
        found = " and ".join(map(str, kinds))
        raise TypeError(f"{named} must be of one kind, to tell what came first, got {found}") from None
    rows = len(columns[0])
    times = [columns[place // rows][place % rows] for place in first.tolist()]
    text = [time for time in times if isinstance(time, str)]
    odd = next((time for time in text if not re.match(r"\d{4}\D", time) or len(time) != len(text[0])), None)
    if odd is not None:
        raise TypeError(
            f"{named} must hold dates or numbers, got the text {odd!r}: only text of one length with the year first"
            " sorts as time does, and pandas.to_datetime makes dates of any"
        )
    return times, np.split(codes, len(columns))


def written(frame: Frame, values: dict[str, Numbers]) -> Frame:
    """The same table, with other numbers in some of its columns."""
    table = opened(frame)
    new = [nw.new_series(name, each, backend=table.implementation) for name, each in values.items()]
    return nw.to_native(table.with_columns(*new))  # type: ignore[no-any-return]


def opened(frame: Any) -> Any:
    """A data frame of any library, as narwhals has it."""
    if not nw.dependencies.is_into_dataframe(frame):
        raise TypeError(f"expected a data frame of pandas, polars or pyarrow, got a {type(frame).__name__}")
    return nw.from_native(frame, eager_only=True)


def _check_columns(names: Sequence[str], needed: Iterable[str | None], hint: str = "") -> None:
    missing = next((name for name in needed if name is not None and name not in names), None)
    if missing is not None:
        raise ValueError(f"there is no column {missing!r} in the table, its columns are {', '.join(names)}{hint}")


def _whole(table: Any, name: str) -> Any:
    """A column without gaps."""
    column = table[name]
    missing = (column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null()).to_numpy()
    if missing.any():
        row, count = first_and_count(missing)
        raise ValueError(f"column {name!r} is missing in row {row} ({in_all(count)})")
    return column


def _given_steps(table: Any, name: str) -> Counts:
    """A column of horizons."""
    values = numbers_in(table, name)
    bad = (values < 1) | (values != np.floor(values))
    if bad.any():
        row, count = first_and_count(bad)
        raise ValueError(
            f"column {name!r} must hold whole numbers of steps from 1 on, got {values[row]:g} in row {row}"
            f" ({in_all(count)})"
        )
    return values.astype(np.int64)


def _steps_ahead(series: Counts, time: Counts, cutoff: Counts | None, times: Any, names: LongColumns) -> Counts:
    """The place of each row among those of its series and cutoff, 1 for the first.

    Raises where a time is not after its cutoff, or two rows are the same forecast. A row that is missing would make
    later ones seem nearer: where the table knows the time that was left out, from another cutoff of the series, that
    is an error too, unless a column has the steps.
    """
    if cutoff is not None and (early := time <= cutoff).any():
        row, count = first_and_count(early)
        raise ValueError(
            f"{names.time!r} must come after {names.cutoff!r}, when the forecast was made: in row {row} it is"
            f" {times[time[row]]}, made at {times[cutoff[row]]} ({in_all(count)})"
        )
    made = np.zeros_like(time) if cutoff is None else cutoff
    order = np.lexsort((time, made, series))
    goes_on = np.diff(series[order], prepend=-1) == 0
    goes_on &= np.diff(made[order], prepend=-1) == 0
    double = np.flatnonzero(goes_on & (np.diff(time[order], prepend=-1) == 0))
    if double.size:
        first, second = order[double[0] - 1], order[double[0]]
        hint = "" if cutoff is not None else ": name the column of the cutoffs by cutoff=, if there are several"
        hint = hint if names.series else ": name the column of the series by series=, if there are several"
        raise ValueError(
            f"rows {first} and {second} are forecasts of the same series for {times[time[first]]}, made at the same"
            f" time ({double.size} such rows in all){hint}"
        )
    at, place = np.arange(len(order)), np.empty(len(order), np.int64)
    place[order] = at - np.maximum.accumulate(np.where(goes_on, 0, at)) + 1
    if cutoff is not None and names.horizon is None:
        of_time, of_cutoff = series * len(times) + time, series * len(times) + cutoff
        seen = np.unique(np.concatenate([of_time, of_cutoff]))
        known = np.searchsorted(seen, of_time, side="right") - np.searchsorted(seen, of_cutoff, side="right")
        if (skipped := known != place).any():
            row, number = first_and_count(skipped)
            raise ValueError(
                f"row {row}, for {times[time[row]]} made at {times[cutoff[row]]}, is forecast {place[row]} of its"
                f" cutoff, but the series has {known[row]} known times since then: rows are missing, or the cutoffs are"
                f" wrong ({in_all(number)}); a column of steps, horizon=, needs no counting"
            )
    return place
