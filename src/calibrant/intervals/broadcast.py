"""A value for every row of a prediction."""

from __future__ import annotations

from typing import Any

from calibrant._arguments import same_length
from calibrant._arrays import Array, floats, namespace
from calibrant._batch import promoted
from calibrant.predictions.point import as_prediction


def broadcast_rows(name: str, prediction: Any, value: Any) -> tuple[Any, Array]:
    """A prediction, and a value for each of its rows; a single number stands for all."""
    prediction = promoted(as_prediction(prediction), value)
    value = floats(name, value, like=prediction.like, allow_inf=True)
    if value.ndim == 0:
        value = namespace(value).broadcast_to(value, (len(prediction),))
    if value.ndim != 1:
        raise ValueError(f"{name} must be 1-d, got shape {tuple(value.shape)}")
    same_length("the prediction", len(prediction), name, value.shape[0])
    return prediction, value
