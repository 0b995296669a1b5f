"""y as it comes: one label per row, or several columns of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_array, column_or_1d

from calibrant._arrays import first_and_count, floats, to_numpy
from calibrant._words import count, singular_if_one
from calibrant.censored import Censored
from calibrant.models.frames import is_frame
from calibrant.several.columns import label_columns

Numbers = np.ndarray[Any, Any]
LARGEST = 1e75
"""Of labels: squares and products of larger ones overflow."""


def labels(y: Any, *, missing: bool = False) -> Any:
    """The labels as floats, one per row; NaN only where they may be missing."""
    if y is None:
        raise ValueError("calibration requires y to be passed, but the target y is None")
    if isinstance(y, Censored):
        return y
    _refuse_texts(np.asarray(y))
    if np.asarray(y).dtype.kind in "mM":
        raise TypeError("y holds dates or durations: convert them to numbers, such as days, first")
    y = check_array(y, ensure_2d=False, dtype="numeric", ensure_all_finite="allow-nan", input_name="y")
    y = column_or_1d(y, dtype=np.float64, warn=True)
    if not missing and (gaps := np.isnan(y)).any():
        first, number = first_and_count(gaps)
        lacking = f"{number} of {count(len(y), 'row')} {singular_if_one(number, 'have')} no label"
        raise ValueError(f"y is NaN in row {first} ({lacking}): leave such rows out, as in X[~np.isnan(y)]")
    if (wild := np.abs(y) > LARGEST).any():
        raise ValueError(f"y is {y[wild][0]:g} in row {np.flatnonzero(wild)[0]}: give it in a unit of at most 1e75")
    return y


def _refuse_texts(y: np.ndarray[Any, Any]) -> None:
    """Raise where labels are texts, be it of digits: numpy would read them, and of 1,5 and 1.5 it reads one."""
    flat = y.ravel() if y.dtype.kind in "OSU" else ()
    row = next((row for row, value in enumerate(flat) if isinstance(value, (str, bytes))), None)
    if row is not None:
        raise TypeError(f"y must hold numbers, got the text {str(flat[row])!r} in row {row}: convert it first")


def is_several(y: Any) -> bool:
    """Whether y has more than one column."""
    if is_frame(y):
        return len(label_columns(y)[1]) > 1
    shape: tuple[int, ...] = np.shape(y) if isinstance(y, (list, tuple)) else getattr(y, "shape", ())
    return len(shape) == 2 and shape[-1] > 1


def label_matrix(y: Any) -> tuple[tuple[str, ...], np.ndarray[Any, Any]]:
    """The names of the labels, and Y of shape (n, d)."""
    names, columns = label_columns(y)
    names = [f"y{j}" for j in range(len(columns))] if names is None else names
    Y = np.stack([np.asarray(to_numpy(column)) for column in columns], axis=1)
    gaps = np.isnan(Y) if Y.dtype.kind == "f" else np.zeros(Y.shape, dtype=bool)
    if gaps.any():
        first, number = first_and_count(gaps)
        which = next(name for j, name in enumerate(names) if gaps[first, j])
        lack = "lacks" if number == 1 else "lack"
        raise ValueError(
            f"label {which!r} is missing in row {first} ({number} of {count(len(Y), 'row')} {lack} a label): leave such"
            " rows out"
        )
    floats("y", Y, ndim=2)
    return tuple(names), Y.astype(np.float64)


def labels_by_name(labels: Any, names: Sequence[str]) -> dict[str, Any]:
    """What kind of number each label is: one kind for all, a dict by name, or a list."""
    if isinstance(labels, Mapping):
        unknown = [name for name in labels if name not in names]
        if unknown:
            raise ValueError(f"labels has {unknown[0]!r}, which is none of the labels {', '.join(map(repr, names))}")
        return {name: labels.get(name) for name in names}
    if isinstance(labels, (list, tuple)):
        if len(labels) != len(names):
            raise ValueError(f"labels must have one kind for each of the {len(names)} labels, got {len(labels)}")
        return dict(zip(names, labels, strict=True))
    return dict.fromkeys(names, labels)


def in_order_of_fit(names: tuple[str, ...], y: Any) -> Numbers:
    """The columns of several labels in the order of `fit`."""
    given, Y = label_matrix(y)
    if sorted(given) == sorted(names):
        return Y[:, [given.index(name) for name in names]]
    if Y.shape[1] != len(names) or is_frame(y):
        raise ValueError(f"y must have the labels {', '.join(names)} of fit, got {', '.join(given)}")
    return Y


def refuse_constant(y: Any, names: Any) -> None:
    """Raise where all labels are equal."""
    for name, column in [(None, y)] if names is None else zip(names, y.T, strict=True):
        if len(column) > 1 and np.ptp(column) == 0:
            which = "" if name is None else f" {name!r}"
            raise ValueError(f"all {len(column)} labels{which} are {column[0] + 0.0:g}: there is nothing to learn")
