"""Module 1: what a base model predicts. Besides these, any `Distribution` is a prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from calibrant._batch import join_rows
from calibrant.distributions.base import Distribution
from calibrant.distributions.joined import join
from calibrant.forecast import Mark
from calibrant.predictions.base import Prediction
from calibrant.predictions.ensemble import Ensemble
from calibrant.predictions.point import Point, Rates
from calibrant.predictions.point import with_labels as with_labels
from calibrant.predictions.quantiles import Interval, Quantiles
from calibrant.predictions.samples import Samples
from calibrant.predictions.with_atom import WithAtom

T = TypeVar("T")


def concatenate(predictions: Sequence[T]) -> T:
    """The rows of several predictions of one kind, or of any distributions, one after the other.

    Args:
        predictions: Predictions of one kind, or distributions, in the order in which their rows are to stand.

    >>> concatenate([Point([1.0, 2.0]), Point([3.0])])
    Point(n=3)
    """
    if not predictions:
        raise ValueError("concatenate needs at least one batch")
    if any(not getattr(batch, "shape", ()) for batch in predictions):
        raise TypeError("concatenate joins batches of rows, not single distributions: slice with H[i:i + 1]")
    if all(isinstance(batch, Distribution) for batch in predictions):
        return join(predictions)  # type: ignore[return-value, arg-type]
    return join_rows(predictions)


__all__ = [
    "Ensemble",
    "Interval",
    "Mark",
    "Point",
    "Prediction",
    "Quantiles",
    "Rates",
    "Samples",
    "WithAtom",
    "concatenate",
]
