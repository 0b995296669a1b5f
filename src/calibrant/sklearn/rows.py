"""What the rows of a table show before a model sees them: copies, and an order in which neighbours are alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from calibrant._words import count, warn_user
from calibrant.censored import Censored
from calibrant.models.frames import is_frame, rows_of
from calibrant.refine.features import Encoder
from calibrant.sklearn.splits import LATEST, first_of_each

Numbers = np.ndarray[Any, Any]

DISTINCT = 10
"""Values of a column that never falls: with fewer, somebody may have sorted the table by it."""
BLOCK = 10_000
"""Rows that are looked at together."""
LAGS = 5
LEAST_CORRELATION, LEAST_Z = 0.05, 3.3
"""Of neighbours' errors, and in standard errors: of 2,000 shuffled tables one rings."""


# ---- copies ---------------------------------------------------------------------------------------------------------


def copies_in(X: Any, y: Numbers) -> Numbers | None:
    """A number for each row, the same for rows that are copies of each other; None where there are none.

    Rows are copies if they are equal in X and in y, and this is no chance: labels are fine, or rows that are equal in X
    nearly always tie. Where labels are tied anyway, such as counts, a warning says so if X hardly repeats otherwise.

    Args:
        X: The features, as they came.
        y: The labels, one or several per row.
    """
    Y = np.reshape(y, (len(y), -1))
    of_y = _codes(Y)
    if len(np.unique(of_y)) == len(Y):
        return None
    try:
        matrix = Encoder.of(X).numbers(X)
    except (TypeError, ValueError):  # columns of what is no number and no category: the model will say so
        return None
    if not matrix.shape[1]:
        return None
    of_X = _codes(matrix)
    both = _codes(np.stack([of_X, of_y], axis=1))
    kinds, first, copy = np.unique(both, return_index=True, return_inverse=True)
    if len(kinds) == len(both):
        return None
    n, X_repeats = len(kinds), _pairs(of_X) > 10 * _by_chance(matrix)
    few_ties = len(np.unique(of_y[first])) > n / 2
    if _is_fine(y, n) or (X_repeats and few_ties and _pairs(both) > 0.9 * _pairs(of_X)):
        return np.asarray(copy)
    if X_repeats and len(both) - n > max(3, 0.01 * len(both)):
        warn_user(
            f"{count(len(both) - n, 'row')} of {len(both):,} equal another in X and in y, which may be copies"
            " or ties of y: if they are copies, leave them out, or the intervals are too narrow"
        )
    return None


def copies_told(X: Any, y: Any) -> Numbers | None:
    """What `copies_in` finds, with a warning that says how many and what is done about them."""
    copies = None if isinstance(y, Censored) else copies_in(X, y)
    if copies is not None:
        warn_user(
            f"{count(len(y) - len(np.unique(copies)), 'row')} of {len(y):,} are copies of others, equal in X and in"
            " y: copies stay together in every split, calibrate once, and the guarantee counts distinct rows"
        )
    return copies


def distinct(X: Any, y: Any, groups: Any = None) -> tuple[Any, Any, Any]:
    """The rows, their labels and their groups: of copies the first, except where groups count once anyway."""
    copies = copies_told(X, y)
    if copies is None or groups is not None:
        return X, y, None if groups is None else np.asarray(groups)
    rows = first_of_each(copies)
    return rows_of(X, rows), y[rows], None


def _is_fine(y: Numbers, count: int) -> bool:
    """Whether labels are so fine that hardly two are equal by chance: some are far closer than n even steps are."""
    values = np.unique(y if y.ndim == 1 else y[:, 0])
    gaps = np.diff(values)
    return bool(len(gaps) > 10 and np.min(gaps) < 0.1 * (values[-1] - values[0]) / count)


def _by_chance(matrix: Numbers) -> float:
    """The pairs of rows that would be equal if columns were independent."""
    n, share = len(matrix), 1.0
    for k in range(matrix.shape[1]):
        share *= np.sum(np.unique(matrix[:, k], return_counts=True)[1].astype(np.float64) ** 2) / n**2
    return float(share * n * (n - 1) / 2)


def _codes(matrix: Numbers) -> Numbers:
    """A 64-bit number for each row, the same for equal rows."""
    codes = np.empty(len(matrix), np.int64)
    for start in range(0, len(matrix), BLOCK):
        block = matrix[start : start + BLOCK] + 0  # -0 is 0
        if block.dtype.kind == "f":
            block[np.isnan(block)] = np.nan  # of one kind
        rows = np.ascontiguousarray(block).view(f"V{8 * block.shape[1]}").ravel()
        codes[start : start + len(rows)] = list(map(hash, rows.tolist()))
    return codes


def _pairs(codes: Numbers) -> float:
    """The number of pairs of equal rows."""
    sizes = np.unique(codes, return_counts=True)[1].astype(np.float64)
    return float(np.sum(sizes * (sizes - 1) / 2))


# ---- order ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Neighbours:
    """How alike the out-of-fold errors of neighbouring rows are: the mean correlation over a few lags."""

    correlation: float
    z: float

    @classmethod
    def of(cls, errors: Numbers) -> Neighbours:
        """Of errors in the order of the table.

        Args:
            errors: The error of each row, by a model that did not see it.
        """
        n = len(errors)
        if n < 50 or np.ptp(errors) == 0:
            return cls(0.0, 0.0)
        score = ndtri((rankdata(errors) - 0.5) / n)  # a few wild errors do not decide
        score = score / np.std(score)
        lags = [float(np.mean(score[:-lag] * score[lag:])) for lag in range(1, LAGS + 1)]
        first, mean = lags[0], float(np.mean(lags))
        z = max(first * np.sqrt(n), mean * np.sqrt(n * LAGS))
        return cls(max(first, mean), float(z))

    @property
    def alike(self) -> bool:
        """Whether this is more than chance."""
        return self.z > LEAST_Z and self.correlation > LEAST_CORRELATION


def column_in_order(X: Any) -> str | None:
    """What never falls from row to row: dates, in the index of a pandas frame too, or numbers; None where nothing does.

    >>> import pandas as pd
    >>> days = pd.date_range("2024-01-01", periods=20)
    >>> column_in_order(pd.DataFrame({"x": [0, 1] * 10}, index=days))
    'the index of X'
    """
    for name, values in _columns(X):
        if np.all(values[1:] >= values[:-1]) and len(np.unique(values)) >= DISTINCT:
            return name
    return None


def _columns(X: Any) -> Iterator[tuple[str, Numbers]]:
    """The index where it holds dates, and the columns of dates and numbers, without gaps."""
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiu":
        yield from ((f"column {k} of X", X[:, k]) for k in range(X.shape[1]))
    if not is_frame(X):
        return
    frame = nw.from_native(X, eager_only=True)
    columns = [(f"column {column.name!r} of X", column) for column in frame.iter_columns()]
    if nw.dependencies.is_pandas_dataframe(X) and X.index.dtype.kind in "OM" and X.index.nlevels == 1:
        index = X.index.to_timestamp() if hasattr(X.index, "to_timestamp") else X.index
        columns.insert(0, ("the index of X", nw.from_native(index.to_series(), series_only=True)))
    for name, column in columns:
        dates_or_numbers = isinstance(column.dtype, (nw.Date, nw.Datetime)) or column.dtype.is_numeric()
        if dates_or_numbers and not column.null_count() and (values := column.to_numpy()).dtype.kind in "Mfiu":
            yield name, values


def warn_of_order(X: Any, y: Numbers, neighbours: Neighbours, folds: int) -> None:
    """Say that rows are not exchangeable, if they look so: once, with what shows it and the ways out.

    Args:
        X: The features, as they came.
        y: The labels.
        neighbours: How alike neighbouring errors are.
        folds: The number of folds that were drawn at random; 0 is one part.
    """
    steps = np.diff(y, axis=0)
    if np.all(steps >= 0) or np.all(steps <= 0):  # sorted by the labels, which says nothing of time
        return
    where = column_in_order(X)
    if where is None and not neighbours.alike:
        return
    same = f"KFold({folds}, shuffle=True)" if folds else f"ShuffleSplit(1, test_size={LATEST})"
    shown = [] if where is None else [f"{where} never falls"]
    if neighbours.alike:
        shown.append(f"the errors of neighbouring rows are correlated by {neighbours.correlation:.2f}")
    warn_user(
        f"the rows seem to be sorted, grouped or in time order ({' and '.join(shown)}), and calibration rows are drawn"
        " at random: cv='latest' calibrates on the last rows, groups= keeps rows together, `track` follows a drift; if"
        f" the order means nothing, shuffle the rows, or cv={same} draws at random without"
        " this warning"
    )
