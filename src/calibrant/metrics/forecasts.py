"""The arguments of metrics, plots and reports: a forecast of any kind and labels, checked; and the mean over rows.

What a kind of forecast can be asked is listed in `calibrant.forecast`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import array_api_compat

from calibrant._arguments import same_length
from calibrant._arrays import Array, floats, namespace
from calibrant._batch import promoted
from calibrant._types import ArrayLike
from calibrant.distributions.base import Distribution
from calibrant.forecast import PredictionLike
from calibrant.predictions import Prediction, Rates
from calibrant.predictions.point import as_prediction

P = ParamSpec("P")
R = TypeVar("R")
Scalar = float | Array
"""A Python float for numpy, a 0-d array of any other namespace."""


def forecast(value: PredictionLike) -> Prediction | Distribution:
    """A prediction, or a single distribution for all rows."""
    if hasattr(value, "predict"):
        raise TypeError(
            f"expected forecasts, got the model {type(value).__name__}: pass prediction_of(model, X), or"
            " model.predict_distribution(X) of a CalibratedRegressor"
        )
    return value if isinstance(value, Distribution) else as_prediction(value)


def comparable(prediction: PredictionLike, H: PredictionLike) -> Prediction | Distribution:
    """A forecast to compare with H: where H is of whole numbers, rates become distributions of counts.

    >>> from calibrant.distributions import Poisson
    >>> comparable(Rates([0.5, 2.0]), Poisson([1.0, 1.0])), comparable(Rates([0.5, 2.0]), [1.0, 1.0])
    (Poisson distribution of 2 rows, 90% interval 2 to 5 wide, Rates(n=2))
    """
    prediction, H = forecast(prediction), forecast(H)
    lattice = H.lattice if isinstance(H, Distribution) else None
    counts = lattice is not None and lattice[1] == 1 and lattice[0] % 1 == 0
    return prediction.distribution() if counts and isinstance(prediction, Rates) else prediction


def paired(H: PredictionLike, y: ArrayLike, what: str = "the forecast") -> tuple[Prediction | Distribution, Array]:
    """A forecast and its labels, checked: at least one row, one finite label for each."""
    H = promoted(forecast(H), y)
    y = labels_of(y, like=H.like)
    if H.shape:
        same_length(what, len(H), "y", y.shape[0])
    if y.shape[0] == 0:
        raise ValueError("a metric needs at least one row, got none")
    return H, y


def labels_of(y: ArrayLike, like: Any = None) -> Array:
    """Labels, checked; the error for missing ones says how to leave them out."""
    try:
        return floats("y", y, like=like, ndim=1)
    except ValueError as error:
        if not str(error).startswith(("y is NaN", "y is masked")):
            raise
        way = "with known = np.isfinite(y), pass H[known] and y[known]"
        raise ValueError(f"{error}: leave out rows without a label; {way}") from None


def name_of(y: Any) -> str:
    """The name of a Series, if it has one; else y."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "y"


def two_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """For functions of forecasts and labels: an error that helps those who pass a model, X and y."""

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        if len(args) > 2:
            called = getattr(function, "__name__", "it")
            raise TypeError(
                f"{called} takes forecasts and labels, {called}(H, y), got {len(args)} arguments: for a"
                f" CalibratedRegressor write model.{called}(X, y), for another model"
                f" {called}(prediction_of(model, X), y)"
            )
        return function(*args, **kwargs)

    return checked


def average(rows: Array) -> Scalar:
    """The mean over rows."""
    if not array_api_compat.is_array_api_obj(rows):
        return float(rows)
    mean = namespace(rows).mean(rows)
    return float(mean) if array_api_compat.is_numpy_array(mean) else mean
