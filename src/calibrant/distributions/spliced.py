"""One law to the left of a point and another to its right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calibrant._arrays import Array, concatenate, device_like, namespace
from calibrant.distributions.base import Distribution
from calibrant.distributions.integrals import PartialMoments, Squares, arm
from calibrant.distributions.integrated import Integrated


@dataclass(frozen=True, eq=False, repr=False)
class Spliced(Integrated):
    """F(y) = left.cdf(y) for y < at, right.cdf(y) from there on; `at` is an atom of what lies between the two.

    What `left` has from `at` on, and `right` before it, does not count; its integrals are theirs on their own sides.
    `whole` is the same law as one map of one q: it is asked at single points, so that q is asked once.
    """

    left: Distribution
    right: Distribution
    at: Array
    whole: Distribution

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.at.shape)

    @property
    def like(self) -> Array:
        return self.at

    def _cdf(self, y: Array) -> Array:
        return self.whole._cdf(y)

    def _cdf_left(self, y: Array) -> Array:
        """At `at` itself the map is that of the right side."""
        left, whole = self.left._cdf_left(y), self.whole._cdf_left(y)
        return namespace(left).where(y <= self._lift(self.at), left, whole)

    def _sf(self, y: Array) -> Array:
        return self.whole._sf(y)

    def _logcdf(self, y: Array) -> Array:
        return self.whole._logcdf(y)

    def _logsf(self, y: Array) -> Array:
        return self.whole._logsf(y)

    def _logpdf(self, y: Array) -> Array:
        return self.whole._logpdf(y)

    def _ppf(self, p: Array) -> Array:
        return self.whole._ppf(p)

    def _ppf_logit(self, s: Array) -> Array:
        return self.whole._ppf_logit(s)

    def _quantiles(self, p: Array) -> Array:
        return self.whole._quantiles(p)

    def _partial_moments(self, y: Array) -> PartialMoments:
        return self._moments_within(y, *self._line)

    def _squares(self, y: Array) -> Squares:
        return self._squares_within(y, *self._line)

    @property
    def _line(self) -> tuple[Array, Array]:
        lower, upper = (device_like(end, self.at) for end in (-float("inf"), float("inf")))
        return (lower[None, None], upper[None, None]) if self.shape else (lower, upper)

    def _moments_within(self, y: Array, lower: Array, upper: Array) -> PartialMoments:
        """Up to y, or up to `at` and on from there: the second integral has the arm from `at` to y too."""
        below, above = self._sides(y, lower, upper)
        left, right = self.left._moments_within(*below), self.right._moments_within(*above)
        at = self._lift(self.at)
        over, under = (namespace(at).maximum(gap, namespace(at).zeros_like(gap)) for gap in (y - at, at - y))
        return PartialMoments(
            left.lower + right.lower,
            left.lower2 + arm(over, left.lower) + right.lower2,
            right.upper + left.upper,
            right.upper2 + arm(under, right.upper) + left.upper2,
        )

    def _squares_within(self, y: Array, lower: Array, upper: Array) -> Squares:
        below, above = self._sides(y, lower, upper)
        left, right = self.left._squares_within(*below), self.right._squares_within(*above)
        return Squares(left.lower + right.lower, left.upper + right.upper)

    def _sides(self, y: Array, lower: Array, upper: Array) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        """y and the bounds as either law sees them, on its own side of `at`."""
        xp, at = namespace(self.at), self._lift(self.at)
        y = y + xp.zeros_like(at)
        lower, upper = lower + xp.zeros_like(y), upper + xp.zeros_like(y)
        start, end = xp.minimum(lower, at), xp.maximum(upper, at)
        low, high = xp.maximum(xp.minimum(y, at), start), xp.minimum(xp.maximum(y, at), end)
        return (low, start, xp.maximum(xp.minimum(upper, at), start)), (
            high,
            xp.minimum(xp.maximum(lower, at), end),
            end,
        )

    def _infinite_mass(self) -> tuple[Any, Any]:
        return self.left._infinite_mass()[0], self.right._infinite_mass()[1]

    def _breaks(self) -> Array:
        left, right = self.left._breaks(), self.right._breaks()
        points = concatenate([left[left < self.at], self.at[None], right[right > self.at]])
        return namespace(points).sort(points)

    def _describe(self) -> str:
        return f"{self.left!r} and {self.right!r}"
