"""Whether a backtest looks ahead: forecasts must not change with labels that come later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import to_numpy
from calibrant._types import SupportsArray, Table
from calibrant._words import count, in_all
from calibrant.backtesting import Backtest
from calibrant.distributions.base import Distribution
from calibrant.horizons.table import numbers_in, ordered_times, written

LEVELS = (0.1, 0.5, 0.9)


def check_look_ahead(
    run: Callable[[Any], Any],
    labels: Table | Sequence[float] | SupportsArray,
    *,
    target: str = "y",
    time: str = "ds",
    cutoff: str = "cutoff",
    times: int = 3,
) -> None:
    """Run a backtest again with other labels from some time on: no forecast made by then may change.

    `run(frame)` is a backtest of your own, or ours: all of it, from the table to its forecasts. It returns a
    `Backtest`, or one law, number or line of numbers for each row. With an array of labels in the place of a table, row
    t is forecast when the labels before it are known. The labels are changed at `times` places.

    It finds whatever reaches the forecasts through the table. A base model that was trained on later rows was trained
    before there was a table, and does not show here.

    >>> from calibrant import Normal
    >>> y = np.random.default_rng(0).normal(size=50)
    >>> before = lambda y: np.cumsum(y) - y
    >>> check_look_ahead(lambda y: Normal(before(y), 1.0), y)
    >>> check_look_ahead(lambda y: Normal(before(y), np.std(y)), y)
    Traceback (most recent call last):
      ...
    AssertionError: a look ahead: the forecast of row 0 changes with labels of rows after row 12, which were not known
    when it was made (14 rows in all)
    """
    rows, table = len(labels), hasattr(labels, "columns")  # type: ignore[arg-type]
    if table:
        y = numbers_in(labels, target, gaps=True)
        known, made, said = ordered_times(labels, time, cutoff)
    else:
        y, known, made, said = np.asarray(to_numpy(labels), np.float64), np.arange(rows), np.arange(rows) - 1, []
    places = np.unique(made)
    places = places[(places >= 0) & (places < known.max())]
    if not places.size:
        raise ValueError("there is nothing to look ahead to: no label comes after a forecast was made")
    first = _numbers(run(labels), rows)
    chosen = places[np.unique(np.linspace(0, len(places) - 1, times + 2).astype(int)[1:-1])]
    for place in chosen.tolist():
        later = known > place
        other = _others(y, later)
        again = _numbers(run(written(labels, {target: other}) if table else other), rows)
        moved = (made <= place) & np.any(_differ(first, again, float(np.nanstd(y))), axis=1)
        when = f"for times after {said[place]}" if table else f"of rows after row {place}"
        assert not moved.any(), (
            f"a look ahead: the forecast of row {int(np.argmax(moved))} changes with labels {when}, which were not"
            f" known when it was made ({in_all(int(moved.sum()))})"
        )


def _others(y: NDArray[np.float64], later: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The later labels in the opposite order, and far away."""
    new = y.copy()
    new[later] = y[later][::-1] + 10 * (1 + np.nanstd(y))
    return new


def _differ(one: NDArray[np.float64], other: NDArray[np.float64], usual: float) -> NDArray[np.bool_]:
    """Where the two differ by more than rounding does."""
    near = np.abs(one - other) <= 1e-9 * (np.abs(one) + usual)
    return np.asarray(~near & (one != other) & ~(np.isnan(one) & np.isnan(other)))


def _numbers(found: Any, rows: int) -> NDArray[np.float64]:
    """What was forecast for each row, as numbers; NaN where nothing was."""
    which, found = (found.rows, found.H) if isinstance(found, Backtest) else (np.arange(rows), found)
    values = found.quantiles(LEVELS) if isinstance(found, Distribution) else found
    values = np.asarray(to_numpy(values) if hasattr(values, "shape") else values, np.float64)
    values = values.reshape(len(values), -1)
    if len(values) != len(which):
        raise ValueError(f"run must give one forecast for each of {count(rows, 'row')}, got {len(values)}")
    all_rows = np.full((rows, values.shape[1]), np.nan)
    all_rows[which] = values
    return all_rows
