"""The columns of X: checked against those of `fit`, shown to the models, and those that name groups."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import _num_samples, validate_data

from calibrant._arguments import same_length
from calibrant.distributions.grouped import labels_of
from calibrant.models.frames import is_frame
from calibrant.sklearn.meta_estimator import SEARCHES, by_name, is_blend, unwrapped

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
    if any(map(_may_take_texts, models)):
        return []
    refused: list[Any] = [nw.String, nw.Object]
    if not any(map(_may_take_categories, models)):
        refused += [nw.Categorical, nw.Enum]
    frame = nw.from_native(X, eager_only=True)
    columns = [frame.get_column(name) for name in (by if isinstance(by, (list, tuple)) else [by])]
    return [each.name for each in columns if each.dtype in refused and any(isinstance(v, str) for v in each.to_list())]


def without(X: Any, hidden: list[Any]) -> Any:
    """X without these columns."""
    return nw.from_native(X, eager_only=True).drop(*hidden).to_native() if hidden and is_frame(X) else X


def _may_take_texts(model: Any) -> bool:
    """Whether it may do something with texts: a pipeline, a search, a transformer, CatBoost, one that says so."""
    return (
        isinstance(model, (Pipeline, TransformedTargetRegressor, *SEARCHES))
        or not isinstance(model, BaseEstimator)
        or type(model).__module__.startswith("catboost")
        or get_tags(model).input_tags.string
    )


def _may_take_categories(model: Any) -> bool:
    """Whether it may take a column of categories as such: not so most of scikit-learn's own."""
    return hasattr(model, "categorical_features") or not type(model).__module__.startswith("sklearn.")


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
