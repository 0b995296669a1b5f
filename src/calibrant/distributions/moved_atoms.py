"""Atoms pulled back through a single map."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._arrays import Array, namespace
from calibrant._batch import shared
from calibrant._kept import kept
from calibrant.distributions.base import Distribution
from calibrant.distributions.composed import Composed
from calibrant.distributions.integrals import PartialMoments, Squares
from calibrant.distributions.maps import Increasing
from calibrant.distributions.outline import Outline
from calibrant.distributions.piecewise import PiecewiseLinear


def are_atoms(q: Distribution) -> bool:
    """Whether q is of the kind that can be moved."""
    return isinstance(q, PiecewiseLinear) and q.is_discrete


@dataclass(frozen=True, eq=False, repr=False)
class MovedAtoms(Composed):
    """Atoms pulled back through one map: the CDF compares scores, as fit did, so that ties stay ties; exact.

    An atom lies at the least float whose score is not below its own, so that cdf(ppf(p)) >= p.
    """

    map: Increasing
    q: PiecewiseLinear = shared()

    @kept
    def _moved(self) -> PiecewiseLinear:
        s = self.q.knots
        xp = namespace(s)
        y = self.map.inverse(s)
        up, down = xp.full_like(y, xp.inf), xp.full_like(y, -xp.inf)
        for _ in range(64):
            low = self.map(y) < s
            if not bool(xp.any(low)):
                break
            y = xp.where(low, xp.nextafter(y, up), y)
        for _ in range(64):
            below = xp.nextafter(y, down)
            high = self.map(below) >= s
            if not bool(xp.any(high)):
                break
            y = xp.where(high, below, y)
        return PiecewiseLinear(y, self.q.probs)

    def _ppf(self, p: Array) -> Array:
        return self._moved._ppf(p)

    def _ppf_logit(self, s: Array) -> Array:
        return self._moved._ppf_logit(s)

    def _logpdf(self, y: Array) -> Array:
        return self._moved._logpdf(y)

    def _partial_moments(self, y: Array) -> PartialMoments:
        return self._moved._partial_moments(y)

    def _squares(self, y: Array) -> Squares:
        return self._moved._squares(y)

    def _moments_within(self, y: Array, lower: Array, upper: Array) -> PartialMoments:
        return self._moved._moments_within(y, lower, upper)

    def _squares_within(self, y: Array, lower: Array, upper: Array) -> Squares:
        return self._moved._squares_within(y, lower, upper)

    def _breaks(self) -> Array:
        return self._moved.knots

    def _outline(self) -> Outline:
        return self._moved._outline()
