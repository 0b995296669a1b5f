"""What each kind of forecast can say. To let the metrics read a kind of your own, register it here."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NoReturn

import array_api_compat
import numpy as np

from calibrant._arrays import Array, floats, namespace, same_length, to_numpy
from calibrant._batch import promoted
from calibrant.distributions.base import Distribution
from calibrant.predictions import Interval, Point, Quantiles, Samples, as_prediction

Scalar = Any
"""A Python float for numpy, a 0-d array of any other namespace."""

LEVELS = tuple(k / 20 for k in range(1, 20))
"""The levels of the pinball loss of a law, which has a quantile at every level."""


class Unsaid(TypeError):
    """A forecast says nothing about what a metric asks for."""


def forecast(value: Any) -> Any:
    """A prediction, or a single law that stands for every row."""
    return value if isinstance(value, Distribution) else as_prediction(value)


def paired(H: Any, y: Any, what: str = "the forecast") -> tuple[Any, Array]:
    """A forecast and its labels, checked: at least one row, one finite label for each."""
    H = promoted(forecast(H), y)
    y = floats("y", y, like=H._like, ndim=1)
    if H.shape:
        same_length(what, len(H), "y", y.shape[0])
    if y.shape[0] == 0:
        raise ValueError("a metric needs at least one row, got none")
    return H, y


def average(rows: Array) -> Scalar:
    """The mean over rows."""
    if not array_api_compat.is_array_api_obj(rows):
        return float(rows)
    mean = namespace(rows).mean(rows)
    return float(mean) if array_api_compat.is_numpy_array(mean) else mean


def _unsaid(prediction: Any, what: str) -> NoReturn:
    raise Unsaid(f"{prediction!r} says nothing about {what}")


@singledispatch
def law(prediction: Any) -> Distribution:
    """The predictive law of each row."""
    _unsaid(prediction, "the law of y")


@singledispatch
def quantile(prediction: Any, level: float) -> Array:
    """The quantile of each row at a level; of Quantiles and Samples at their own levels only."""
    _unsaid(prediction, f"the quantile at level {level:.6g}")


@singledispatch
def levels_of(prediction: Any) -> tuple[float, ...]:
    """The levels at which the pinball loss is taken."""
    _unsaid(prediction, "quantiles")


@singledispatch
def bounds(prediction: Any, coverage: float) -> tuple[Array, Array]:
    """The centred interval of each row; an Interval's own bounds, whatever coverage is asked for."""
    return quantile(prediction, (1 - coverage) / 2), quantile(prediction, (1 + coverage) / 2)


@singledispatch
def crps_rows(prediction: Any, y: Array) -> Array:
    """The CRPS of each row."""
    return law(prediction).crps(y)


@singledispatch
def std_rows(prediction: Any) -> Array:
    """The standard deviation of each row."""
    return law(prediction).std()


law.register(Distribution, lambda prediction: prediction)
quantile.register(Distribution, lambda prediction, level: prediction.ppf(level))
levels_of.register(Distribution, lambda prediction: LEVELS)

crps_rows.register(Point, lambda prediction, y: namespace(y).abs(prediction.values - y))

bounds.register(Interval, lambda prediction, coverage: (prediction.lower, prediction.upper))

levels_of.register(Quantiles, lambda prediction: tuple(float(level) for level in to_numpy(prediction.levels)))


@quantile.register
def _(prediction: Quantiles, level: float) -> Array:
    near = np.abs(to_numpy(prediction.levels) - level)
    column = int(np.argmin(near))
    if near[column] > 1e-6:
        _unsaid(prediction, f"the quantile at level {level:.6g}")
    return prediction.values[:, column]


levels_of.register(Samples, lambda prediction: levels_of(prediction.as_quantiles()))
quantile.register(Samples, lambda prediction, level: quantile(prediction.as_quantiles(), level))
std_rows.register(Samples, lambda prediction: namespace(prediction.values).std(prediction.values, axis=1))


@crps_rows.register
def _(prediction: Samples, y: Array) -> Array:
    """The CRPS of the empirical law: twice the pinball loss at the levels (k - 1/2) / K."""
    quantiles = prediction.as_quantiles()
    return 2 * namespace(y).mean(pinball_rows(quantiles.values, y[:, None], quantiles.levels), axis=1)


def pinball_rows(quantiles: Array, y: Array, level: Any) -> Array:
    """max(a (y - q), (a - 1) (y - q))."""
    above = y - quantiles
    return namespace(y).maximum(level * above, (level - 1) * above)
