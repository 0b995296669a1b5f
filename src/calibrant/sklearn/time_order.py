"""A warning where rows seem to be in time order while calibration rows are drawn at random."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any

import narwhals as nw

from calibrant._words import warn_user
from calibrant.models.frames import is_frame

TIMES = 10
"""Distinct ones: fewer may be a table that somebody sorted by year."""


def dates_in_order(X: Any) -> str | None:
    """What holds dates that increase from row to row: the index of a pandas frame or a column; None where nothing does.

    >>> import pandas as pd
    >>> days = pd.date_range("2024-01-01", periods=20)
    >>> dates_in_order(pd.DataFrame({"x": range(20)}, index=days)), dates_in_order(pd.DataFrame({"day": days[::-1]}))
    ('the index of X', None)
    """
    return next((name for name, dates in _dates(X) if _in_order(dates)), None)


def warn_of_time_order(cv: Any, X: Any) -> None:
    """Say that the last rows may be the ones to calibrate on, where a share or a number of folds splits at random."""
    if not isinstance(cv, Real) or (where := dates_in_order(X)) is None:
        return
    same = f"ShuffleSplit(1, test_size={cv})" if float(cv) < 1 else f"KFold({cv}, shuffle=True)"
    warn_user(
        f"the rows look as if they are in time order (see {where}), and calibration rows are drawn at random:"
        f" cv='latest' calibrates on the last rows; cv={same} draws at random without this warning"
    )


def _dates(X: Any) -> Iterator[tuple[str, nw.Series[Any]]]:
    """The index where it holds dates, and the columns that do."""
    if not is_frame(X):
        return
    if nw.dependencies.is_pandas_dataframe(X) and X.index.dtype.kind in "OM" and X.index.nlevels == 1:
        index = X.index.to_timestamp() if hasattr(X.index, "to_timestamp") else X.index
        yield "the index of X", nw.from_native(index.to_series(), series_only=True)
    for column in nw.from_native(X, eager_only=True).iter_columns():
        yield f"column {column.name!r} of X", column


def _in_order(dates: nw.Series[Any]) -> bool:
    if not isinstance(dates.dtype, (nw.Date, nw.Datetime)) or dates.null_count():
        return False
    return bool(dates.is_sorted()) and dates.n_unique() >= TIMES
