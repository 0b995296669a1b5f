"""The prediction's own spread, shrunk towards a common one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from scipy.special import ndtri

from calibrant._arrays import Array, device_like, namespace, to_numpy
from calibrant.distributions import Normal
from calibrant.predictions import Interval, Point, Quantiles, Samples
from calibrant.refine.base import Refiner
from calibrant.refine.rows import TrainingRows
from calibrant.refine.shrinkage import Shrinkage


@dataclass(frozen=True)
class Spread(Refiner):
    """The prediction's own spread s, widened to sqrt(a^2 + (b s)^2); a and b by out-of-fold likelihood.

    Rows whose spread is nearly zero, such as those on which all trees of a forest agree, would otherwise dominate the
    distribution of all the others. Intervals, quantiles and samples keep their kind, every distribution becomes a
    `Normal` with its mean; a `Point`, which has no spread, stays as it is.
    """

    def fit(self, rows: TrainingRows) -> SpreadRefinement:
        """a and b."""
        if rows.spread is None:
            return SpreadRefinement(None)
        return SpreadRefinement(Shrinkage.of(rows.spread, rows.y - rows.centre, rows.sample_weight))


@dataclass(frozen=True)
class SpreadRefinement:
    """(X, prediction) -> the prediction, widened."""

    shrinkage: Shrinkage | None

    def __call__(self, X: Any, prediction: Any) -> Any:
        """Each row with the wider spread."""
        del X
        if self.shrinkage is None:
            return Point(prediction.centre_rows())
        return _widened(prediction, self.shrinkage)


@singledispatch
def _widened(prediction: Any, shrinkage: Shrinkage) -> Any:
    return Normal(prediction.centre_rows(), shrinkage(prediction.spread_rows()))


@_widened.register
def _(prediction: Interval, shrinkage: Shrinkage) -> Interval:
    centre, half = prediction.centre_rows(), shrinkage(prediction.spread_rows()) / 2
    return Interval(centre - half, centre + half)


@_widened.register
def _(prediction: Quantiles, shrinkage: Shrinkage) -> Quantiles:
    return Quantiles(prediction.levels, _spread_out(prediction, prediction.levels, shrinkage))


@_widened.register
def _(prediction: Samples, shrinkage: Shrinkage) -> Samples:
    return Samples(_spread_out(prediction, prediction.as_quantiles().levels, shrinkage))


def _spread_out(prediction: Any, levels: Array, shrinkage: Shrinkage) -> Array:
    """c + b (x - c) + a z, with z the normal quantile of x's level: the sum of two distributions that rise together."""
    values, centre = prediction.values, prediction.centre_rows()[:, None]
    z = device_like(ndtri(to_numpy(levels)), values)
    moved = centre + shrinkage.factor * (values - centre) + shrinkage.common * z[None, :]
    return namespace(moved).sort(moved, axis=1)
