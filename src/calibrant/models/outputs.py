"""The output of models as arrays and predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj, is_numpy_array

from calibrant.predictions import Quantiles


def named(model: Any) -> str:
    """A function's own name, else that of the class."""
    return str(getattr(model, "__name__", type(model).__name__))


def numbers(name: str, output: Any) -> Any:
    """An array of another namespace than numpy as it is; all else as numpy float64, lest labels be rounded to less."""
    if is_array_api_obj(output) and not is_numpy_array(output):
        return output
    try:
        array = np.asarray(output)
    except ValueError:
        raise ValueError(f"{name} must predict an array of numbers, got rows of unequal length") from None
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} must predict real numbers, got {type(output).__name__} of dtype {array.dtype}")
    return array.astype(np.float64, copy=False)


def column(name: str, output: Any) -> Any:
    """One number per row: (n,), or (n, 1) without its second axis."""
    array = numbers(name, output)
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            f"{name} must predict one number per row, got shape {tuple(array.shape)}: "
            f"predictions_of takes several targets, or calibrate them one by one; wrap the model in a function that "
            f"returns Quantiles(levels, values) or Samples(values) if its columns are these"
        )
    return array


def quantiles(name: str, levels: Sequence[float], output: Any) -> Quantiles:
    """`Quantiles` of levels in any order, one column of `output` each; (n,) will do for a single level."""
    array = numbers(name, output)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or array.shape[1] != len(levels):
        raise ValueError(
            f"{name} must predict a column for each of its {len(levels)} levels, got shape {tuple(array.shape)}"
        )
    order = np.argsort(levels)
    return Quantiles(np.asarray(levels, dtype=np.float64)[order], array[:, order.tolist()])


def without_arrow(X: Any) -> Any:
    """X, with an Arrow table turned into pandas, for libraries that cannot read it."""
    return X.to_pandas() if type(X).__module__.partition(".")[0] == "pyarrow" else X


def columns_in(X: Any) -> list[str] | None:
    """The names of a table's columns; None of an array."""
    names = getattr(X, "column_names", getattr(X, "columns", None))  # pyarrow has the columns themselves in the second
    return None if names is None else [str(each) for each in names]


def check_order(name: str, known: Sequence[str], given: Sequence[str] | None) -> None:
    """Raise where a table has other columns than these, or in another order, for models that go by position alone."""
    if given is None or list(given) == list(known):
        return
    lacking = [each for each in known if each not in given]
    if lacking:
        raise ValueError(f"X must have the columns that {name} was trained on, but {lacking[0]!r} is missing")
    more = [each for each in given if each not in known]
    if more:
        raise ValueError(f"X must have the columns that {name} was trained on, and {more[0]!r} is none of them")
    k = next(k for k, each in enumerate(given) if each != known[k])
    raise ValueError(
        f"column {k} of X is {given[k]!r} where {name} was trained on {known[k]!r}: give its columns in that order"
    )
