"""One law to the left of a point and another to its right."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._arrays import Array, concatenate, device_like, namespace
from calibrant.distributions.base import Distribution
from calibrant.distributions.integrals import PartialMoments, Squares
from calibrant.distributions.integrated import Integrated


@dataclass(frozen=True, eq=False, repr=False)
class Spliced(Integrated):
    """F(y) = left.cdf(y) for y < at, right.cdf(y) from there on; `at` is an atom of what lies between the two.

    What `left` has from `at` on, and `right` before it, does not count; its integrals are theirs on their own sides.
    """

    left: Distribution
    right: Distribution
    at: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.at.shape)

    @property
    def like(self) -> Array:
        return self.at

    def _side(self, name: str, y: Array, below: Array) -> Array:
        left, right = getattr(self.left, name)(y), getattr(self.right, name)(y)
        return namespace(left).where(below, left, right)

    def _cdf(self, y: Array) -> Array:
        return self._side("_cdf", y, y < self._lift(self.at))

    def _cdf_left(self, y: Array) -> Array:
        return self._side("_cdf_left", y, y <= self._lift(self.at))

    def _sf(self, y: Array) -> Array:
        return self._side("_sf", y, y < self._lift(self.at))

    def _logcdf(self, y: Array) -> Array:
        return self._side("_logcdf", y, y < self._lift(self.at))

    def _logsf(self, y: Array) -> Array:
        return self._side("_logsf", y, y < self._lift(self.at))

    def _logpdf(self, y: Array) -> Array:
        return self._side("_logpdf", y, y < self._lift(self.at))

    def _ppf(self, p: Array) -> Array:
        return self._joined(self.left._ppf(p), self.right._ppf(p))

    def _ppf_logit(self, s: Array) -> Array:
        return self._joined(self.left._ppf_logit(s), self.right._ppf_logit(s))

    def _joined(self, left: Array, right: Array) -> Array:
        """A quantile of `left` that lies beyond the point is not this law's, nor is one of `right` before it."""
        xp, at = namespace(left), self._lift(self.at)
        return xp.where(left < at, left, xp.where(right > at, right, xp.zeros_like(left) + at))

    def _partial_moments(self, y: Array) -> PartialMoments:
        xp = namespace(self.at)
        ends = (device_like(end, self.at) for end in (-float("inf"), float("inf")))
        lower, upper = (end[None, None] if self.shape else end for end in ends)
        return self._moments_within(y + xp.zeros_like(self._lift(self.at)), lower, upper)

    def _squares(self, y: Array) -> Squares:
        xp = namespace(self.at)
        ends = (device_like(end, self.at) for end in (-float("inf"), float("inf")))
        lower, upper = (end[None, None] if self.shape else end for end in ends)
        return self._squares_within(y + xp.zeros_like(self._lift(self.at)), lower, upper)

    def _moments_within(self, y: Array, lower: Array, upper: Array) -> PartialMoments:
        """Up to y, or up to `at` and on from there: the second integral has the arm from `at` to y too."""
        xp, at = namespace(self.at), self._lift(self.at)
        y = y + xp.zeros_like(at)
        lower, upper = lower + xp.zeros_like(y), upper + xp.zeros_like(y)
        low, high = xp.minimum(y, at), xp.maximum(y, at)
        start, end = xp.minimum(lower, at), xp.maximum(upper, at)
        left = self.left._moments_within(xp.maximum(low, start), start, xp.maximum(xp.minimum(upper, at), start))
        right = self.right._moments_within(xp.minimum(high, end), xp.minimum(xp.maximum(lower, at), end), end)
        over, under = high - at, at - low
        return PartialMoments(
            left.lower + right.lower,
            left.lower2 + over * left.lower + right.lower2,
            right.upper + left.upper,
            right.upper2 + under * right.upper + left.upper2,
        )

    def _squares_within(self, y: Array, lower: Array, upper: Array) -> Squares:
        xp, at = namespace(self.at), self._lift(self.at)
        y = y + xp.zeros_like(at)
        lower, upper = lower + xp.zeros_like(y), upper + xp.zeros_like(y)
        low, high = xp.minimum(y, at), xp.maximum(y, at)
        start, end = xp.minimum(lower, at), xp.maximum(upper, at)
        left = self.left._squares_within(xp.maximum(low, start), start, xp.maximum(xp.minimum(upper, at), start))
        right = self.right._squares_within(xp.minimum(high, end), xp.minimum(xp.maximum(lower, at), end), end)
        return Squares(left.lower + right.lower, left.upper + right.upper)

    def _infinite_mass(self) -> tuple[Array, Array]:
        return self.left._infinite_mass()[0], self.right._infinite_mass()[1]

    def _breaks(self) -> Array:
        left, right = self.left._breaks(), self.right._breaks()
        points = concatenate([left[left < self.at], self.at[None], right[right > self.at]])
        return namespace(points).sort(points)

    def _describe(self) -> str:
        return f"{self.left!r} and {self.right!r}"
