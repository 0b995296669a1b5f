"""Integrals between bounds, from those that reach to the ends of a law."""

from __future__ import annotations

from calibrant._arrays import Array, namespace
from calibrant.distributions.integrals import PartialMoments, Squares
from calibrant.distributions.integrated import Integrated


class FromEnds(Integrated):
    """A law whose integrals between bounds are differences of its own: it has no tails in which these would cancel."""

    def _moments_within(self, y: Array, lower: Array, upper: Array) -> PartialMoments:
        at, (a, low), (b, high) = self._partial_moments(y), self._bound(lower, y), self._bound(upper, y)
        first, last = self._partial_moments(a), self._partial_moments(b)
        xp, zero = namespace(y), namespace(y).zeros_like(at.lower)
        return PartialMoments(
            at.lower - xp.where(low, first.lower, zero),
            at.lower2 - xp.where(low, first.lower2 + (y - a) * first.lower, zero),
            at.upper - xp.where(high, last.upper, zero),
            at.upper2 - xp.where(high, last.upper2 + (b - y) * last.upper, zero),
        )

    def _squares_within(self, y: Array, lower: Array, upper: Array) -> Squares:
        at, (a, low), (b, high) = self._squares(y), self._bound(lower, y), self._bound(upper, y)
        xp, zero = namespace(y), namespace(y).zeros_like(at.lower)
        return Squares(
            at.lower - xp.where(low, self._squares(a).lower, zero),
            at.upper - xp.where(high, self._squares(b).upper, zero),
        )

    @staticmethod
    def _bound(bound: Array, y: Array) -> tuple[Array, Array]:
        """A bound with a finite number in place of an infinite one, and whether it is finite."""
        xp = namespace(y)
        bound = bound + xp.zeros_like(y)
        finite = xp.isfinite(bound)
        return xp.where(finite, bound, y), finite
