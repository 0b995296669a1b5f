"""Whatever a user hands over, as a prediction."""

from __future__ import annotations

from typing import cast

from calibrant._arguments import same_length
from calibrant._arrays import Array, floats
from calibrant._batch import promoted
from calibrant._hints import no_prediction
from calibrant._types import ArrayLike
from calibrant.distributions import from_scipy, from_torch
from calibrant.distributions.base import Distribution
from calibrant.forecast import PredictionLike, SupportsCDF
from calibrant.predictions.base import Prediction
from calibrant.predictions.point import Point


def as_prediction(value: PredictionLike) -> Prediction | Distribution:
    """A prediction as it is; a bare 1-d array as a Point; a frozen scipy.stats or a torch.distributions law adapted."""
    if isinstance(value, Prediction):
        return value
    if isinstance(value, Distribution):
        if not value.shape:
            raise ValueError(f"a prediction needs one law a row, got the single law {value!r}")
        return value
    kind = type(value).__module__
    if kind.startswith("scipy.stats"):
        return as_prediction(from_scipy(cast(SupportsCDF, value)))
    if kind.startswith("torch.distributions"):
        return as_prediction(from_torch(cast(SupportsCDF, value)))
    if said := no_prediction(value):
        raise TypeError(said)
    return Point(cast(ArrayLike, value))


def with_labels(prediction: PredictionLike, y: ArrayLike) -> tuple[Prediction | Distribution, Array]:
    """A prediction and the labels of its rows, checked, in the wider type of the two."""
    prediction = promoted(as_prediction(prediction), y)
    y = floats("y", y, like=prediction.like, ndim=1)
    same_length("the prediction", len(prediction), "y", y.shape[0])
    return prediction, y
