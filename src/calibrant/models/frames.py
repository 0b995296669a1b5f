"""Data frames of any library, through narwhals: rows taken out, and results given back in the kind that came in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from scipy.sparse import issparse, vstack
from sklearn.utils import _safe_indexing


def is_frame(X: Any) -> bool:
    """Whether this is a data frame (pandas, polars, pyarrow, ...)."""
    return nw.dependencies.is_into_dataframe(X)


def collected(X: Any) -> Any:
    """X itself, unless it is a lazy frame, whose rows are not there yet."""
    if isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        raise TypeError(f"X is a {type(X).__name__}, whose rows are not there yet: give X.collect()")
    return X


def rows_of(X: Any, index: Any) -> Any:
    """The rows `index` of an array, a sparse matrix, a list or a frame, in the same kind."""
    if is_frame(X) and not nw.dependencies.is_pandas_dataframe(X):  # pandas keeps its index the other way
        return nw.to_native(nw.from_native(X, eager_only=True)[index.tolist(), :])
    return _safe_indexing(X, index)


def like_input(X: Any, names: Sequence[str], columns: np.ndarray[Any, Any]) -> Any:
    """An (n, k) array as it is; for a frame X, as a frame of the same kind with these names and the index of X."""
    if not is_frame(X):
        return columns
    frame = nw.from_native(X, eager_only=True)
    named = {name: np.ascontiguousarray(columns[:, k]) for k, name in enumerate(names)}
    result = nw.to_native(nw.from_dict(named, backend=frame.implementation))
    if hasattr(X, "index") and hasattr(result, "index"):
        result.index = X.index
    return result


def stacked(first: Any, second: Any) -> Any:
    """The rows of two arrays, sparse matrices or frames of the same kind, one after the other."""
    if is_frame(first) and is_frame(second):
        both = [nw.from_native(X, eager_only=True) for X in (first, second)]
        names = [", ".join(map(str, X.columns)) for X in both]
        if names[0] != names[1]:
            raise ValueError(f"two tables must have the same columns, got {names[0]} and {names[1]}")
        return nw.to_native(nw.concat(both, how="vertical"))
    if issparse(first) or issparse(second):
        return vstack([first, second]).tocsr()
    one, other = np.asarray(first), np.asarray(second)
    if one.ndim != 2 or other.ndim != 2 or one.shape[1] != other.shape[1]:
        raise ValueError(f"two tables must have the same columns, got shapes {one.shape} and {other.shape}")
    return np.concatenate([one, other])
