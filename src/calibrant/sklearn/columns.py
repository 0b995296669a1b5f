"""The columns of X: checked against those of `fit`, and selected for the models."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import narwhals as nw
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from calibrant.models.frames import is_frame
from calibrant.sklearn.meta_estimator import SEARCHES, by_name, is_blend, unwrapped


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
    if not is_frame(X):
        return None
    names = list(nw.from_native(X, eager_only=True).columns)
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


def shown_to_models(X: Any, by: Any, estimator: Any) -> Any:
    """X without the columns of texts that name the groups of `by`, where the models refuse texts."""
    if by is None or callable(by) or not is_frame(X) or is_blend(estimator) or _may_take_texts(estimator):
        return X
    frame = nw.from_native(X, eager_only=True)
    names = by if isinstance(by, (list, tuple)) else [by]
    texts = [name for name in names if name in frame.columns and frame.get_column(name).dtype in (nw.String, nw.Object)]
    return nw.to_native(frame.drop(*texts)) if texts else X


def _may_take_texts(estimator: Any) -> bool:
    """Whether a model may do something with texts: a pipeline, a search, a transformer, CatBoost, one that says so."""
    models = [unwrapped(each) for each in by_name(estimator).values()]
    return any(
        isinstance(each, (Pipeline, TransformedTargetRegressor, *SEARCHES))
        or not isinstance(each, BaseEstimator)
        or type(each).__module__.startswith("catboost")
        or get_tags(each).input_tags.string
        for each in models
    )


@contextmanager
def naming_columns(X: Any, by: Any) -> Iterator[None]:
    """Where a model refuses X, say which column it may be: of dates, of texts, or one that is there for `by` alone."""
    try:
        yield
    except Exception as error:
        frame = nw.from_native(X, eager_only=True) if is_frame(X) else None
        if frame is None:
            raise
        dates = [name for name in frame.columns if frame[name].dtype.is_temporal()]
        if dates and type(error).__name__ == "DTypePromotionError":
            raise TypeError(
                f"X has dates in column {dates[0]!r}, which the estimator cannot use: convert them to numbers such as"
                " the hour and the day, or take CalibratedRegressor() without a model, which takes them as they are"
            ) from error
        names = by if isinstance(by, (list, tuple)) else [by]
        texts = [name for name in frame.columns if name in names and not _is_number(frame.get_column(name).dtype)]
        if texts:
            error.add_note(
                f"The estimator was given column {texts[0]!r} too, which holds no numbers and names the groups of by=:"
                " if that is the reason, encode it in a pipeline."
            )
        elif str(error).startswith("could not convert string to float"):
            _refuse_texts(frame, error)
        raise


def _refuse_texts(frame: nw.DataFrame[Any], error: Exception) -> None:
    """Raise with the name of the first column of texts, and what it may be."""
    for column in frame.iter_columns():
        given = next(
            (value for value in column.to_list() if isinstance(value, str) and not _is_numeric_text(value)), None
        )
        if given is not None:
            raise ValueError(
                f"X has texts in column {column.name!r}, such as {given!r}, which the estimator cannot use:"
                " encode them in a pipeline (dates, by pd.to_datetime, as numbers such as the hour and the day), or"
                " take CalibratedRegressor() without a model, which takes them as they are"
            ) from error


def _is_numeric_text(text: str) -> bool:
    """Whether a model reads it as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_number(dtype: Any) -> bool:
    return bool(dtype.is_numeric() or dtype == nw.Boolean)
