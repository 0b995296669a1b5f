"""Forecasts in a long table: series, time, cutoff, and so how many steps ahead."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import first_and_count
from calibrant._words import in_all
from calibrant.horizons.columns import ForecastColumns, find_forecast

Counts = NDArray[np.int64]


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
    times: Any
    """All times, in order."""
    y: NDArray[np.float64] | None
    bound: dict[str, NDArray[np.float64]] | None = None

    def __len__(self) -> int:
        return len(self.horizon)

    def __getitem__(self, index: Any) -> LongRows:
        """Some of the rows."""

        def some(value: Any) -> Any:
            return None if value is None else value[index]

        return replace(
            self,
            prediction=self.prediction[index],
            horizon=self.horizon[index],
            time=self.time[index],
            cutoff=some(self.cutoff),
            series=self.series[index],
            y=some(self.y),
            bound=None if self.bound is None else {name: values[index] for name, values in self.bound.items()},
        )

    def in_order(self) -> Counts:
        """The rows in the order in which the forecasts were made."""
        made = self.time - self.horizon if self.cutoff is None else self.cutoff
        return np.asarray(np.lexsort((self.horizon, self.series, made)), np.int64)


def columns_of(
    frame: Any,
    model: str | None,
    target: str,
    series: str | None,
    time: str,
    cutoff: str | None,
    horizon: str | None,
    coverage: float,
) -> LongColumns:
    """The columns of a table, with those that it need not have left out."""
    names = names_of(frame)
    series = None if series == "unique_id" and series not in names else series  # a table of one series
    cutoff = None if horizon is not None and cutoff not in names else cutoff
    exclude = [name for name in (target, series, time, cutoff, horizon) if name is not None]
    missing = [name for name in exclude if name not in names]
    if missing:
        hint = ": name the column of the cutoffs by cutoff=, or one of the steps ahead by horizon="
        raise ValueError(
            f"there is no column {missing[0]!r} in the table, its columns are {', '.join(names)}"
            f"{hint if missing == [cutoff] else ''}"
        )
    forecast = find_forecast(names, model, coverage=coverage, exclude=exclude)
    return LongColumns(forecast, target, series, time, cutoff, horizon)


def read(frame: Any, columns: LongColumns, *, labels: bool, bounds: tuple[str, ...] = ()) -> LongRows:
    """The rows of a table; without a column of cutoffs, those of a series were forecast all at once."""
    table = _opened(frame)
    wanted = [*columns.forecast.names, columns.time, *bounds]
    wanted += [name for name in (columns.series, columns.horizon) if name is not None]
    wanted += [columns.target] if labels else []
    missing = [name for name in wanted if name not in table.columns]
    if missing:
        raise ValueError(f"there is no column {missing[0]!r} in the table, its columns are {', '.join(table.columns)}")
    if len(table) == 0:
        raise ValueError("the table has no rows")
    has_cutoff = columns.cutoff is not None and columns.cutoff in table.columns
    prediction = columns.forecast.prediction(lambda name: _numbers(table, name))
    y = _numbers(table, columns.target, gaps=True) if labels else None
    bound = {name: _numbers(table, name) for name in bounds} or None
    n = len(table)
    series = np.zeros(n, np.int64) if columns.series is None else _numbered(_known(table, columns.series))[1]
    both = [_known(table, columns.time)] + ([_known(table, str(columns.cutoff))] if has_cutoff else [])
    times, codes = _ordered(both, columns.time, columns.cutoff if has_cutoff else None)
    time, cutoff = codes[:n], codes[n:] if has_cutoff else None
    if cutoff is not None:
        early = time <= cutoff
        if early.any():
            row, count = first_and_count(early)
            raise ValueError(
                f"{columns.time!r} must come after {columns.cutoff!r}, when the forecast was made: in row {row} it is"
                f" {times[time[row]]}, made at {times[cutoff[row]]} ({in_all(count)})"
            )
    _check_doubles(series, time, cutoff, times, columns)
    steps = _given(table, columns.horizon) if columns.horizon else _counted(series, time, cutoff, times, columns)
    return LongRows(prediction, steps, time, cutoff, series, times, y, bound)


def written(frame: Any, values: dict[str, NDArray[np.float64]]) -> Any:
    """The same table, with other numbers in some of its columns."""
    table = _opened(frame)
    new = [nw.new_series(name, each, backend=table.implementation) for name, each in values.items()]
    if hasattr(frame, "index") and hasattr(frame, "assign"):  # pandas aligns by the index
        return frame.assign(**values)
    return nw.to_native(table.with_columns(*new))


def names_of(frame: Any) -> list[str]:
    """The names of the columns."""
    return list(_opened(frame).columns)


def numbers_in(frame: Any, name: str, *, gaps: bool = False) -> NDArray[np.float64]:
    """A column of finite numbers; with `gaps`, NaN where one is missing."""
    return _numbers(_opened(frame), name, gaps=gaps)


def ordered_times(frame: Any, time: str, cutoff: str) -> tuple[Counts, Counts, list[Any]]:
    """When the label of each row is known and when its forecast was made, as numbers of the times in order."""
    table = _opened(frame)
    times, codes = _ordered([_known(table, time), _known(table, cutoff)], time, cutoff)
    return codes[: len(table)], codes[len(table) :], times


def _opened(frame: Any) -> Any:
    if not nw.dependencies.is_into_dataframe(frame):
        raise TypeError(f"expected a data frame of pandas, polars or pyarrow, got a {type(frame).__name__}")
    return nw.from_native(frame, eager_only=True)


def _numbers(table: Any, name: str, *, gaps: bool = False) -> NDArray[np.float64]:
    """A column of finite numbers; with `gaps`, NaN where one is missing."""
    if name not in table.columns:
        raise ValueError(f"there is no column {name!r} in the table, its columns are {', '.join(table.columns)}")
    column = table[name]
    if not column.dtype.is_numeric():
        raise TypeError(f"column {name!r} must hold numbers, got {column.dtype}")
    values = np.asarray([np.nan if value is None else value for value in column.to_list()], np.float64)
    bad = np.isinf(values) if gaps else ~np.isfinite(values)
    if bad.any():
        row, count = first_and_count(bad)
        what = "infinite" if gaps else "missing or infinite"
        raise ValueError(f"column {name!r} is {what} in row {row} ({in_all(count)})")
    return values


def _known(table: Any, name: str) -> list[Any]:
    """A column without gaps."""
    column = table[name]
    missing = column.is_null().to_numpy()
    if missing.any():
        row, count = first_and_count(missing)
        raise ValueError(f"column {name!r} is missing in row {row} ({in_all(count)})")
    return list(column.to_list())


def _numbered(values: list[Any]) -> tuple[list[Any], Counts]:
    """The different values, and which of them each is."""
    distinct = list(dict.fromkeys(values))
    number = {value: place for place, value in enumerate(distinct)}
    return distinct, np.asarray([number[value] for value in values], np.int64)


def _ordered(columns: list[list[Any]], time: str, cutoff: str | None) -> tuple[list[Any], Counts]:
    """All times in order, and the number of each value among them."""
    distinct, codes = _numbered([value for column in columns for value in column])
    try:
        order = sorted(range(len(distinct)), key=distinct.__getitem__)
    except TypeError:
        one, other = (type(column[0]).__name__ for column in (columns[0], columns[-1]))
        raise TypeError(
            f"{time!r} and {cutoff!r} must be of one kind, to tell what came first, got {one} and {other}"
        ) from None
    _check_text(distinct, time, cutoff)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return [distinct[place] for place in order], rank[codes]


_YEAR_FIRST = re.compile(r"\d{4}\D.*")


def _check_text(times: list[Any], time: str, cutoff: str | None) -> None:
    """Raise for times as text, unless text sorts as time does: the year first, and all of one length."""
    if not isinstance(times[0], str):
        return
    odd = next((text for text in times if not _YEAR_FIRST.fullmatch(text) or len(text) != len(times[0])), None)
    if odd is not None:
        names = repr(time) if cutoff is None else f"{time!r} and {cutoff!r}"
        raise TypeError(
            f"{names} must hold dates or numbers, got the text {odd!r}: only text of one length with the year first"
            " sorts as time does, and pandas.to_datetime makes dates of any"
        )


def _check_doubles(series: Counts, time: Counts, cutoff: Counts | None, times: Any, names: LongColumns) -> None:
    made = np.zeros_like(time) if cutoff is None else cutoff
    order = np.lexsort((np.arange(len(time)), time, made, series))
    keys = np.stack([series, made, time])[:, order]
    double = np.flatnonzero(np.all(keys[:, 1:] == keys[:, :-1], axis=0))
    if double.size:
        first, second = order[double[0]], order[double[0] + 1]
        hint = "" if names.series else ": name the column of the series by series=, if there are several"
        hint = hint or (
            "" if cutoff is not None else ": name the column of the cutoffs by cutoff=, if there are several"
        )
        raise ValueError(
            f"rows {first} and {second} are forecasts of the same series for {times[time[first]]}, made at the same"
            f" time ({double.size} such rows in all){hint}"
        )


def _given(table: Any, name: str) -> Counts:
    """A column of horizons."""
    values = _numbers(table, name)
    bad = (values < 1) | (values != np.floor(values))
    if bad.any():
        row, count = first_and_count(bad)
        raise ValueError(
            f"column {name!r} must hold whole numbers of steps from 1 on, got {values[row]:g} in row {row}"
            f" ({in_all(count)})"
        )
    return values.astype(np.int64)


def _counted(series: Counts, time: Counts, cutoff: Counts | None, times: Any, names: LongColumns) -> Counts:
    """The place of each row among those of its series and cutoff, 1 for the first.

    A row that is missing would make later ones seem nearer. Where the table knows the time that was left out, from
    another cutoff of the series, that is an error.
    """
    made = np.zeros_like(time) if cutoff is None else cutoff
    order = np.lexsort((time, made, series))
    new = np.ones(len(order), bool)
    new[1:] = (series[order][1:] != series[order][:-1]) | (made[order][1:] != made[order][:-1])
    start = np.flatnonzero(new)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - np.repeat(start, np.diff(start, append=len(order))) + 1
    if cutoff is not None:
        known = _known_steps(series, time, cutoff, len(times))
        skipped = known != place
        if skipped.any():
            row, count = first_and_count(skipped)
            raise ValueError(
                f"row {row}, for {times[time[row]]} made at {times[cutoff[row]]}, is forecast {place[row]} of its"
                f" cutoff, but the series has {known[row]} known times since then: rows are missing, or the cutoffs are"
                f" wrong ({in_all(count)}); a column of steps, horizon=, needs no counting"
            )
    return place


def _known_steps(series: Counts, time: Counts, cutoff: Counts, many: int) -> Counts:
    """The number of times after the cutoff, up to its own, that the series has anywhere in the table."""
    seen = np.unique(np.concatenate([series * many + time, series * many + cutoff]))
    after, before = (np.searchsorted(seen, series * many + each, side="right") for each in (time, cutoff))
    return np.asarray(after - before, np.int64)
