"""The prediction's own spread: left out, or shrunk towards a common one as far as the data support it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, singledispatch
from typing import Any

import numpy as np
from scipy.special import ndtri

from calibrant._arrays import Array, device_like, namespace, to_numpy
from calibrant.distributions import Normal
from calibrant.predictions import Interval, Point, Quantiles, Samples
from calibrant.refine.base import Refinement, Refiner, TrainingRows

_SHARES = (0.0, 0.01, 0.02, *(k / 20 for k in range(1, 21)))
_POWERS = (0.25, 0.5, 0.75, 1.0, 1.25)


@dataclass(frozen=True)
class Constant(Refiner):
    """The middle of each row's prediction as a `Point`: the same residuals for all rows. It learns nothing."""

    def fit(self, rows: TrainingRows) -> Refinement:
        """Nothing is learned."""
        del rows
        return middle


def middle(X: Any, prediction: Any) -> Point:
    """The middle of each row."""
    del X
    return Point(prediction.centre_rows())


@dataclass(frozen=True)
class Spread(Refiner):
    """The prediction's own spread s, widened to sqrt(a^2 + (b s)^2); a and b by out-of-fold likelihood.

    Rows whose spread is nearly zero, such as those on which all trees of a forest agree, would otherwise dominate the
    distribution of all the others. Intervals, quantiles and samples keep their kind, every distribution becomes a
    `Normal` with its mean; a `Point`, which has no spread, stays as it is.
    """

    def fit(self, rows: TrainingRows) -> Refinement:
        """a and b."""
        if rows.spread is None:
            return middle
        return partial(widened, shrinkage=Shrinkage.of(rows.spread, rows.y - rows.centre, rows.sample_weight))


def widened(X: Any, prediction: Any, shrinkage: Shrinkage) -> Any:
    """Each row with the wider spread."""
    del X
    return _widened(prediction, shrinkage)


@dataclass(frozen=True)
class Shrinkage:
    """sqrt(common^2 + (factor s^power)^2): a spread of nearly zero is no longer nearly zero."""

    common: float
    factor: float
    power: float = 1.0

    def __call__(self, spread: Array) -> Array:
        """The scale of each row."""
        return namespace(spread).hypot(self.factor * spread**self.power, spread * 0 + self.common)

    @classmethod
    def of(cls, spread: Array, errors: Array, weight: Array | None = None, *, powers: bool = False) -> Shrinkage:
        """The likeliest, if errors have Laplace's distribution: mean of log scale + |error| / scale is least.

        The spreads and errors are of rows that taught neither. The share of the common scale is tried on a grid, and
        with `powers` that of the spread too; then the size follows: the mean of |error| / scale is 1. With the least
        absolute error in place of the least square a few wild rows do not decide it.
        """
        errors = np.abs(errors)
        middle = float(np.median(spread[spread > 0])) if np.any(spread > 0) else 0.0
        mean = float(np.average(errors, weights=weight))
        if middle == 0 or mean == 0:
            return cls(max(mean, np.finfo(np.float64).tiny), 0.0)
        best = cls(mean, 0.0)
        least = np.log(mean) + 1.0
        for power in _POWERS if powers else (1.0,):
            relative = (spread / middle) ** power
            for share in _SHARES:
                scale = np.hypot(share, (1 - share) * relative)
                if np.min(scale) <= 0:
                    continue
                size = float(np.average(errors / scale, weights=weight))
                cost = float(np.average(np.log(scale), weights=weight)) + np.log(size) + 1.0
                if cost < least:
                    least, best = cost, cls(share * size, (1 - share) * size / middle**power, power)
        return best


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
