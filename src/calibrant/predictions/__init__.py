"""Module 1: what a base model predicts. Besides these, any `Distribution` is a prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from calibrant._batch import join_rows
from calibrant.distributions.base import Distribution
from calibrant.forecast import Forecast, Mark, Unsaid
from calibrant.forms import Form
from calibrant.predictions.base import Prediction
from calibrant.predictions.ensemble import Ensemble
from calibrant.predictions.interval import Interval
from calibrant.predictions.point import Point
from calibrant.predictions.quantiles import Quantiles
from calibrant.predictions.samples import Samples

T = TypeVar("T")


def as_prediction(value: Any) -> Any:
    """A prediction as it is; a bare 1-d array as a Point; a frozen scipy.stats or a torch.distributions law adapted."""
    if isinstance(value, Prediction):
        return value
    if isinstance(value, Distribution):
        if not value.shape:
            raise ValueError(f"a prediction needs one law a row, got the single law {value!r}")
        return value
    kind = type(value).__module__
    if kind.startswith("scipy.stats"):
        from calibrant.distributions.adapters import from_scipy

        return as_prediction(from_scipy(value))
    if kind.startswith("torch.distributions"):
        from calibrant.distributions.adapters import from_torch

        return as_prediction(from_torch(value))
    if isinstance(value, (str, bytes, dict)) or not (hasattr(value, "__len__") or hasattr(value, "__array__")):
        raise TypeError(
            f"a prediction must be a Point, Interval, Quantiles, Samples, Ensemble, a Distribution or a 1-d array, "
            f"got {type(value).__name__}"
        )
    return Point(value)


def concatenate(predictions: Sequence[T]) -> T:
    """The rows of several predictions, or laws, of one kind, one after the other.

    >>> concatenate([Point([1.0, 2.0]), Point([3.0])])
    Point(n=3)
    """
    if not predictions:
        raise ValueError("concatenate needs at least one batch")
    if any(not getattr(batch, "shape", ()) for batch in predictions):
        raise TypeError("concatenate joins batches of rows, not single laws: slice with H[i:i + 1]")
    return join_rows(predictions)


__all__ = [
    "Ensemble",
    "Forecast",
    "Form",
    "Interval",
    "Mark",
    "Point",
    "Prediction",
    "Quantiles",
    "Samples",
    "Unsaid",
    "as_prediction",
    "concatenate",
]
