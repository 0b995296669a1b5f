"""Curved transforms, and one that jumps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from calibrant._arrays import Array, anywhere, concatenate, device_like, namespace
from calibrant._batch import same
from calibrant.distributions.base import Distribution
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.own_logit import OwnCDF, OwnLogit
from calibrant.scores.transforms.base import Affine, Transform


@dataclass(frozen=True, eq=False)
class Logarithm(Transform):
    """s = log(y), and -inf for y <= 0."""

    shape: ClassVar[tuple[int, ...]] = ()

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        xp = namespace(y)
        with np.errstate(divide="ignore"):  # log 0 is -inf
            s = xp.log(xp.maximum(y, xp.zeros_like(y)))
        return s, -s

    def inverse(self, s: Array) -> Array:
        xp = namespace(s)
        with np.errstate(over="ignore"):
            y = xp.exp(s)
        # every y <= 0 has the score -inf, so the least of them is where q's mass at -inf belongs
        return xp.where(s == -xp.inf, xp.full_like(y, -xp.inf), y)


@dataclass(frozen=True, eq=False)
class LogitCDF(OwnLogit, Transform):
    """s = logit F(y): the cdf score, which as a logit never saturates. In a sum it becomes weight * F(y)."""

    distribution: Distribution
    weight: float = field(default=1.0, metadata={"shared": True})

    @property
    def standard(self) -> tuple[Array, Array, Transform] | None:
        """logit F of the base of a location-scale distribution, if all rows share it."""
        distribution = self.distribution
        if not isinstance(distribution, LocationScale) or distribution.base.shape or not distribution.shape:
            return None
        return distribution.loc, distribution.scale, LogitCDF(distribution.base)


@dataclass(frozen=True, eq=False)
class CDF(OwnCDF, Transform):
    """s = F(y) itself: how the cdf score enters a sum with scores of another kind."""

    distribution: Distribution

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        return self(y), self.log_slope(y)


@dataclass(frozen=True, eq=False)
class ByFunctions(Transform):
    """Any increasing map, given by three functions of (prediction, y or s), with one value per row."""

    prediction: Any
    score: Callable[[Any, Array], Array]
    unscore: Callable[[Any, Array], Array]
    slope: Callable[[Any, Array], Array]

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.prediction),)

    def __call__(self, y: Array) -> Array:
        return self._columnwise(self.score, y)

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        return self(y), self._columnwise(self.slope, y)

    def inverse(self, s: Array) -> Array:
        return self._columnwise(self.unscore, s)

    def _columnwise(self, function: Callable[[Any, Array], Array], argument: Array) -> Array:
        """The function of (n, k) values, from one of one value per row: each row of the prediction repeated k times."""
        xp = namespace(argument)
        rows, columns = len(self.prediction), argument.shape[1]
        flat = xp.reshape(xp.broadcast_to(argument, (rows, columns)), (-1,))
        repeated = self.prediction[np.repeat(np.arange(rows), columns)] if columns != 1 else self.prediction
        with np.errstate(all="ignore"):  # at the ends of its range a score may be infinite
            return xp.reshape(function(repeated, flat), (rows, columns))


@dataclass(frozen=True, eq=False)
class TwoSided(Transform):
    """s = -g(-below(y)) for y < at, s = g(above(y)) from `at` on; g(v) = v + sqrt(v^2 + 1) = exp(asinh(v)).

    The inverse of every s between the two branches is `at`.
    """

    below: Transform
    above: Transform
    at: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.at.shape)

    def left(self, y: Array) -> Array:
        """At `at` that of the lower branch."""
        return namespace(y).where(y == self._lift(self.at), -_g(-self.below(y)), self(y))

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        xp, low = namespace(y), y < self._lift(self.at)
        below = self.below.with_slope(y)
        above = below if self.above is self.below else self.above.with_slope(y)
        v = xp.where(low, -below[0], above[0])
        with np.errstate(invalid="ignore"):  # at -inf and inf
            log_slope = xp.asinh(v) - xp.log(xp.hypot(v, xp.ones_like(v)))
        return xp.where(low, -_g(v), _g(v)), log_slope + xp.where(low, below[1], above[1])

    def inverse(self, s: Array) -> Array:
        xp, at, size = namespace(s), self._lift(self.at), abs(s)
        with np.errstate(divide="ignore"):
            v = xp.sinh(xp.log(size))
        lower, upper = xp.minimum(self.below.inverse(-v), at), xp.maximum(self.above.inverse(v), at)
        return xp.where(s < 0, lower, xp.where(s > 0, upper, at))

    @property
    def standard(self) -> tuple[Array, Array, Transform] | None:
        """Of a straight line on both sides of its own zero, the same branches of (y - loc) / scale."""
        line = self.below
        if not isinstance(line, Affine) or not same(self.above, line) or anywhere(line.loc != self.at):
            return None
        zero = device_like(0.0, self.at)
        unit = Affine(zero, zero + 1)
        return line.loc, line.scale, TwoSided(unit, unit, zero)

    @property
    def bends(self) -> Array | None:
        """The two s at `at`."""
        at = namespace(self.at).reshape(self.at, (-1, 1))
        ends = concatenate([-_g(-self.below(at)), _g(self.above(at))], axis=1)
        return ends if anywhere(ends != ends[:1, :]) else ends[:1, :]


def _g(v: Array) -> Array:
    """Not by v + sqrt(v^2 + 1), which cancels."""
    return namespace(v).exp(namespace(v).asinh(v))
