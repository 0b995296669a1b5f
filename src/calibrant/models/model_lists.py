"""Several models for the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from calibrant._arguments import unit
from calibrant._arrays import concatenate
from calibrant.models.dispatch import prediction_of
from calibrant.models.outputs import named, quantiles
from calibrant.predictions import Ensemble, Point, Quantiles


def combined(models: Sequence[Any], X: Any) -> Quantiles | Ensemble:
    """One `Quantiles` if every model predicts a single quantile, else an `Ensemble` of their predictions."""
    if not models:
        raise ValueError("prediction_of takes a list of at least one model, got an empty one")
    predictions: list[Any] = [prediction_of(model, X) for model in models]
    if not all(isinstance(each, Quantiles) and each.values.shape[1] == 1 for each in predictions):
        return Ensemble(predictions)
    levels = [float(each.levels[0]) for each in predictions]
    if len(set(levels)) < len(levels):
        raise ValueError(
            f"a list of quantile models must have one model per level, got the levels {sorted(levels)}: "
            f"join models of one level with Ensemble([prediction_of(model, X) for model in models])"
        )
    return quantiles("the list", levels, concatenate([each.values for each in predictions], axis=1))


def by_level(models: Mapping[Any, Any], X: Any) -> Quantiles:
    """`Quantiles` of the models of a dict {level: model}, each of which predicts one number per row."""
    if not models:
        raise ValueError("prediction_of takes a dict {level: model} of at least one model, got an empty one")
    levels = [unit("the level of a dict {level: model}", level) for level in models]
    columns = [_at(level, model, X) for level, model in zip(levels, models.values(), strict=True)]
    return quantiles("the dict", levels, concatenate(columns, axis=1))


def _at(level: float, model: Any, X: Any) -> Any:
    prediction = prediction_of(model, X)
    if isinstance(prediction, Point):
        return prediction.values[:, None]
    if not isinstance(prediction, Quantiles) or prediction.values.shape[1] > 1:
        raise TypeError(
            f"a model of a dict {{level: model}} must predict one number per row, got {prediction!r} from"
            f" {named(model)}"
        )
    found = float(prediction.levels[0])
    if abs(found - level) > 1e-6:  # a model of single precision knows its level to 1e-8
        raise ValueError(f"the {named(model)} at level {level} of a dict {{level: model}} predicts level {found}")
    return prediction.values
