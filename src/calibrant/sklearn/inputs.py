"""X and y as they come: columns checked against those of `fit`, shown to the models, named by `by`; labels."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, column_or_1d, get_tags
from sklearn.utils.validation import _num_samples, validate_data

from calibrant._arguments import same_length
from calibrant._arrays import first_and_count, floats, to_numpy
from calibrant._words import count, singular_if_one
from calibrant.censored import Censored
from calibrant.distributions.grouped import labels_of
from calibrant.models.frames import is_frame
from calibrant.several.columns import label_columns
from calibrant.sklearn.meta_estimator import SEARCHES, by_name, is_blend, unwrapped

Numbers = np.ndarray[Any, Any]

LARGEST = 1e75
"""Of labels: squares and products of larger ones overflow."""
OTHERWISE = {
    "by": "give its number, or a function of X",
    "groups": "give its number",
    "features": "give its number",
    "time": "give its number, or the times themselves",
}


# ---- the columns of fit ---------------------------------------------------------------------------------------------


def learn_columns(estimator: Any, X: Any) -> None:
    """Keep number and names of the columns, as scikit-learn does; and names that are no strings, which it leaves."""
    validate_data(estimator, X, skip_check_array=True)
    estimator.columns_in_ = _not_strings(X)


def check_columns(estimator: Any, X: Any, model: Any) -> None:
    """Raise where X has other columns than in `fit`, or the same in another order, unless the model goes by name.

    A model may go by position, and would then take one column for another without a word.
    """
    if is_frame(X) and selects_by_name(model):
        return
    shape = getattr(X, "shape", ())
    if len(shape) == 1 and hasattr(estimator, "n_features_in_"):
        raise ValueError(
            f"X must have rows and columns, got shape {shape}. Reshape your data: X.reshape(1, -1) is one row"
        )
    validate_data(estimator, X, skip_check_array=True, reset=False)
    known, given = getattr(estimator, "columns_in_", None), _not_strings(X)
    if known is not None and given is not None and known != given:
        k = next(k for k in range(len(known)) if known[k] != given[k])  # scikit-learn has compared the numbers of them
        raise ValueError(f"column {k} of X is {given[k]!r}, and in fit it was {known[k]!r}")


def _not_strings(X: Any) -> list[Any] | None:
    """The names of a frame's columns where they are no strings, such as the numbers that pandas gives."""
    names = list(nw.from_native(X, eager_only=True).columns) if is_frame(X) else []
    return None if all(isinstance(name, str) for name in names) else names


def selects_by_name(model: Any) -> bool:
    """Whether a column transformer sees X first: it takes its columns in any order, and ignores others.

    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> (
    ...     selects_by_name(make_pipeline(ColumnTransformer([("all", "passthrough", ["a"])]), Ridge())),
    ...     selects_by_name(Ridge()),
    ... )
    (True, False)
    """
    model = unwrapped(model)
    if isinstance(model, (list, tuple)):
        return all(map(selects_by_name, model))
    if isinstance(model, Pipeline):
        return selects_by_name(model.steps[0][1])
    if isinstance(model, TransformedTargetRegressor):
        return selects_by_name(model.regressor)
    return isinstance(model, ColumnTransformer) or (isinstance(model, SEARCHES) and selects_by_name(model.estimator))


# ---- what the models see --------------------------------------------------------------------------------------------


def hidden_from(estimator: Any, X: Any, by: Any) -> list[Any]:
    """The columns of texts, and of categories that are texts, which name the groups of `by` and the models refuse."""
    if by is None or callable(by) or not is_frame(X) or is_blend(estimator):
        return []
    models = [unwrapped(each) for each in by_name(estimator).values()]
    # pipelines, searches and transformers may do something with texts, and so may CatBoost and what is not our kind
    inner = (Pipeline, TransformedTargetRegressor, *SEARCHES)
    for each in models:
        catboost = type(each).__module__.startswith("catboost")
        if (
            isinstance(each, inner)
            or not isinstance(each, BaseEstimator)
            or catboost
            or get_tags(each).input_tags.string
        ):
            return []
    # most models of scikit-learn take no column of categories as such
    plain = [
        type(each).__module__.startswith("sklearn.") and not hasattr(each, "categorical_features") for each in models
    ]
    refused: list[Any] = [nw.String, nw.Object, *([nw.Categorical, nw.Enum] if all(plain) else [])]
    frame = nw.from_native(X, eager_only=True)
    columns = [frame.get_column(name) for name in (by if isinstance(by, (list, tuple)) else [by])]
    return [each.name for each in columns if each.dtype in refused and any(isinstance(v, str) for v in each.to_list())]


@contextmanager
def naming_columns(X: Any) -> Iterator[None]:
    """Where a model refuses X, name the first column of dates or of texts."""
    try:
        yield
    except Exception as error:
        dates = type(error).__name__ == "DTypePromotionError"
        if is_frame(X) and (dates or str(error).startswith("could not convert string to float")):
            for column in nw.from_native(X, eager_only=True).iter_columns():
                text = next((v for v in column.to_list() if isinstance(v, str) and not _is_number(v)), None)
                if column.dtype.is_temporal() if dates else text is not None:
                    raise (TypeError if dates else ValueError)(
                        f"X has {'dates' if dates else 'texts'} in column {column.name!r}"
                        f"{'' if dates else f', such as {text!r}'}, which the estimator cannot use: encode them in a"
                        " pipeline (dates as numbers, such as the hour and the day), or take CalibratedRegressor()"
                        " without a model, which takes them as they are"
                    ) from error
        raise


def _is_number(text: str) -> bool:
    """Whether a model reads it as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


# ---- columns by name ------------------------------------------------------------------------------------------------


def groups_in(X: Any, by: Any) -> list[Hashable]:
    """The group of each row: by a function of X, or by one or several of its columns.

    >>> groups_in(np.array([[1.0, 5.0], [2.0, 6.0]]), 0), groups_in([[1], [2]], lambda X: ["a", "b"])
    ([1, 2], ['a', 'b'])
    """
    if callable(by):
        found = labels_of(by(X))
        same_length("X", _num_samples(X), "what by gives", len(found))
        return found
    if hasattr(by, "__array__"):
        raise TypeError(f"by must name a column of X, or several, or be a function of X, got a {type(by).__name__}")
    columns = by if isinstance(by, (list, tuple)) else [by]
    if not columns:
        raise ValueError("by must name a column of X, or several, got none")
    values = [labels_of(column_of(X, name, "by")) for name in columns]
    rows = zip(*values, strict=True)
    return values[0] if len(values) == 1 else [None if None in row else tuple(row) for row in rows]


def check_column(X: Any, name: Any, what: str) -> None:
    """Raise unless X has the column that the parameter `what` names: by name in a data frame, by number in an array."""
    if is_frame(X):
        names = nw.from_native(X, eager_only=True).columns
        if name not in names:
            shown = str(name) if isinstance(name, str) else name  # numpy's own strings print their type
            raise ValueError(f"{what} names the column {shown!r}, and those of X are {', '.join(map(str, names))}")
        return
    if isinstance(name, str):
        raise TypeError(f"{what} names the column {str(name)!r}, but X is no data frame: {OTHERWISE[what]}")
    shape = np.shape(X)
    if len(shape) != 2 or not -shape[1] <= name < shape[1]:
        raise ValueError(f"{what} is column {name}, and X has shape {shape}")


def column_of(X: Any, name: Any, what: str) -> Any:
    """The column of X that the parameter `what` names: by its name in a data frame, by its number in an array."""
    check_column(X, name, what)
    if is_frame(X):
        return nw.from_native(X, eager_only=True).get_column(name).to_list()
    values = np.asarray(X)[:, name]
    # an array of floats has whole numbers as floats
    whole = values.dtype.kind == "f" and bool(np.all(np.isnan(values) | (values == np.floor(values))))
    return [None if math.isnan(value) else int(value) for value in values.tolist()] if whole else values


# ---- labels ----------------------------------------------------------------------------------------------------------


def labels(y: Any, *, missing: bool = False) -> Any:
    """The labels as floats, one per row; NaN only where they may be missing."""
    if y is None:
        raise ValueError("calibration requires y to be passed, but the target y is None")
    if isinstance(y, Censored):
        return y
    if (given := np.asarray(y)).dtype.kind in "mM":
        raise TypeError("y holds dates or durations: convert them to numbers, such as days, first")
    # be it of digits: numpy would read them, and of 1,5 and 1.5 it reads one
    for row, value in enumerate(given.ravel() if given.dtype.kind in "OSU" else ()):
        if isinstance(value, (str, bytes)):
            raise TypeError(f"y must hold numbers, got the text {str(value)!r} in row {row}: convert it first")
    y = check_array(y, ensure_2d=False, dtype="numeric", ensure_all_finite="allow-nan", input_name="y")
    y = column_or_1d(y, dtype=np.float64, warn=True)
    if not missing and (gaps := np.isnan(y)).any():
        first, number = first_and_count(gaps)
        lacking = f"{number} of {count(len(y), 'row')} {singular_if_one(number, 'have')} no label"
        raise ValueError(f"y is NaN in row {first} ({lacking}): leave such rows out, as in X[~np.isnan(y)]")
    if (wild := np.abs(y) > LARGEST).any():
        raise ValueError(f"y is {y[wild][0]:g} in row {np.flatnonzero(wild)[0]}: give it in a unit of at most 1e75")
    return y


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
