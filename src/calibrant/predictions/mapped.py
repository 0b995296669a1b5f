"""Predictions of a label as predictions of an increasing function of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from calibrant._arrays import Array
from calibrant.distributions.base import Distribution
from calibrant.predictions.base import Prediction
from calibrant.predictions.ensemble import Ensemble
from calibrant.predictions.interval import Interval
from calibrant.predictions.point import Point
from calibrant.predictions.quantiles import Quantiles
from calibrant.predictions.samples import Samples
from calibrant.predictions.with_atom import WithAtom


def mapped(
    prediction: Any, function: Callable[[Array, str], Array], of_law: Callable[[Distribution], Distribution]
) -> Prediction | Distribution:
    """What a prediction of Y says of t(Y): numbers by `function(values, name)`, laws by `of_law`.

    A point becomes t of the point, which is a median where the point is one, and no mean.
    """
    match prediction:
        case Distribution():
            return of_law(prediction)
        case Point():
            return Point(function(prediction.values, "Point.values"))
        case Interval():
            ends = (function(getattr(prediction, name), f"Interval.{name}") for name in ("lower", "upper"))
            return Interval(*ends)
        case Quantiles():
            return Quantiles(prediction.levels, function(prediction.values, "Quantiles.values"))
        case Samples():
            return Samples(function(prediction.values, "Samples.values"))
        case WithAtom():
            return WithAtom(mapped(prediction.prediction, function, of_law), prediction.share)
        case Ensemble():
            return Ensemble([mapped(member, function, of_law) for member in prediction.members], prediction.weights)
    raise TypeError(f"it is not known what {prediction!r} says of a function of the label: transform it yourself")
