"""X of any kind as a matrix of numbers."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn.utils.validation import _num_samples

from calibrant._arrays import to_numpy
from calibrant.models.frames import is_frame

_LARGEST = float(np.finfo(np.float32).max)
"""Forests hold X in single precision."""
_WIDEST = 200
"""A sparse matrix with more columns than this is left out."""


@dataclass(frozen=True)
class Encoder:
    """X as a matrix: numbers as they are, categories by their rank, dates in seconds.

    Missing values and categories that were not seen are nan. Wide sparse matrices and anything else without columns
    give a matrix without columns.
    """

    categories: tuple[tuple[Any, ...] | None, ...] | None
    """Of each column that is used its values in order, None for numbers; None where X has no columns."""
    used: tuple[int, ...] = ()
    """The numbers of these columns."""
    names: tuple[Any, ...] | None = None
    """Of the columns of a frame: a model may take them in any order, and others beside them."""
    width: int = 0
    """The number of columns of X."""

    @classmethod
    def of(cls, X: Any, most_kinds: int | None = None) -> Encoder:
        """What is needed to encode rows like these.

        Args:
            X: The features: an array, a sparse matrix or a frame.
            most_kinds: Columns of texts with more kinds are left out, and those with one value; None keeps all.
        """
        columns = _columns(X)
        names = tuple(nw.from_native(X, eager_only=True).columns) if is_frame(X) else None
        if columns is None:
            return cls(None, (), names)
        kinds = [_categories(each) for each in columns]
        used = [k for k, each in enumerate(kinds) if most_kinds is None or _is_useful(columns[k], each, most_kinds)]
        return cls(tuple(kinds[k] for k in used), tuple(used), names, len(columns))

    def numbers(self, X: Any) -> np.ndarray[Any, Any]:
        """(n, d) numbers.

        Args:
            X: Rows with the columns that were learned.
        """
        if self.categories is None:
            return np.zeros((_num_samples(X), 0))
        takes_all = len(self.used) == self.width and not any(self.categories)
        if takes_all and isinstance(X, np.ndarray) and X.dtype.kind == "f" and X.shape[1:] == (self.width,):
            return np.asarray(np.clip(X.astype(np.float64), -_LARGEST, _LARGEST))
        given = _columns(self._as_in_fit(X)) or []
        if len(given) != self.width:
            raise ValueError(f"X must have {self.width} columns as in fit, got {len(given)}")
        columns = [_numbers(given[k], seen) for k, seen in zip(self.used, self.categories, strict=True)]
        matrix = np.stack(columns, axis=1) if columns else np.zeros((_num_samples(X), 0))
        return np.asarray(np.clip(matrix, -_LARGEST, _LARGEST))

    def __call__(self, X: Any, prediction: Any) -> np.ndarray[Any, Any]:
        """What refiners learn from: the prediction's centre and, where it has one, its spread; then the columns of X.

        Args:
            X: Rows with the columns that were learned.
            prediction: What was predicted for them.
        """
        # kept: of a forest's draws they take as long as a boosted model, and each member of an average asks for them
        parts = prediction.remember("_kept_centre_and_spread", lambda: _centre_and_spread(prediction))
        own = np.clip(np.stack(parts, axis=1), -_LARGEST, _LARGEST)
        return np.concatenate([own, self.numbers(X)], axis=1)

    def _as_in_fit(self, X: Any) -> Any:
        """The columns of `fit`, in the order of `fit`, where both were frames."""
        if self.names is None or not is_frame(X):
            return X
        frame = nw.from_native(X, eager_only=True)
        missing = [name for name in self.names if name not in frame.columns]
        if missing:
            raise ValueError(f"X must have the columns of fit, but {missing[0]!r} is missing")
        return frame.select(*(frame.get_column(name) for name in self.names)).to_native()


def _is_useful(column: np.ndarray[Any, Any], kinds: tuple[Any, ...] | None, most_kinds: int) -> bool:
    """Whether a column tells rows apart, and is no name of each."""
    if kinds is not None:
        return 1 < len(kinds) <= most_kinds
    numbers = _floats(column)
    known = numbers[~np.isnan(numbers)]
    return bool(len(known) > 1 and np.min(known) < np.max(known))


def _centre_and_spread(prediction: Any) -> list[np.ndarray[Any, Any]]:
    """The centre of each row and, where there is one, its spread."""
    spread = prediction.spread_rows()
    parts = [prediction.centre_rows()] + ([] if spread is None else [spread])
    return [to_numpy(each).astype(np.float64) for each in parts]


def _columns(X: Any) -> list[np.ndarray[Any, Any]] | None:
    """The columns of X, each a numpy array of numbers or of objects; None where there are none to speak of."""
    if is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        return [_column(series) for series in frame.iter_columns()]
    if sparse.issparse(X):
        dense: Any = X
        return list(dense.toarray().T) if dense.shape[1] <= _WIDEST else None
    array = to_numpy(X) if hasattr(X, "__array_namespace__") else np.asarray(X)
    if array.ndim == 1:
        return None
    return list(array.reshape(len(array), -1).T)


def _column(series: Any) -> np.ndarray[Any, Any]:
    """A column of a frame: numbers and truths as floats, dates as seconds, all else as objects."""
    kind = series.dtype
    if kind.is_temporal():
        return _since(series)
    if kind.is_numeric() or kind == nw.Boolean:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    values = series.to_list()
    column = np.empty(len(values), dtype=object)
    for k, each in enumerate(values):  # one by one: numpy would make a matrix of a column of lists
        column[k] = each if isinstance(each, Hashable) and each == each else None
    return column


def _since(series: Any) -> np.ndarray[Any, Any]:
    times = np.asarray(series.to_numpy())
    if times.dtype.kind not in "mM":
        return np.array([str(each) for each in times], dtype=object)
    seconds = times.astype("datetime64[ns]" if times.dtype.kind == "M" else "timedelta64[ns]")
    return np.where(np.isnat(seconds), np.nan, seconds.astype(np.int64) / 1e9)


def _categories(column: np.ndarray[Any, Any]) -> tuple[Any, ...] | None:
    """The values of a column that is no number, in order; None for numbers."""
    if column.dtype.kind in "fiub":
        return None
    try:
        column.astype(np.float64)
    except (TypeError, ValueError):
        return tuple(sorted({each for each in column.tolist() if each is not None and each == each}, key=str))
    return None


def _numbers(column: np.ndarray[Any, Any], categories: tuple[Any, ...] | None) -> np.ndarray[Any, Any]:
    if categories is None:
        return _floats(column)
    ranks = {value: float(rank) for rank, value in enumerate(categories)}
    return np.array([ranks.get(each, np.nan) for each in column.tolist()])


def _floats(column: Any) -> np.ndarray[Any, Any]:
    """Texts such as "01" were numbers in `fit`; one that is none is a missing value."""
    try:
        return column.astype(np.float64)  # type: ignore[no-any-return]
    except (TypeError, ValueError):
        return np.array([_float(each) for each in column.tolist()])


def _float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")
