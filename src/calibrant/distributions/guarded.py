"""A distribution bent by a broken line from (0, 0) to (1, 1)."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._arrays import Array, clip, concatenate, namespace
from calibrant._batch import shared
from calibrant._special import logit, sigmoid
from calibrant.distributions.base import Distribution, bent_places
from calibrant.distributions.piecewise_linear import PiecewiseLinear


@dataclass(frozen=True, eq=False, repr=False)
class Guarded(Distribution):
    """F(s) = bend(law.cdf(s)), with `bend` an increasing broken line from (0, 0) to (1, 1).

    Below the first bend F is a multiple of the distribution's own, above the last 1 - F is.
    """

    law: Distribution = shared()
    bend: PiecewiseLinear = shared()
    shape = ()

    @property
    def _last(self) -> tuple[Array, Array]:
        """How far the last piece of the line reaches below 1, and its slope."""
        return 1 - self.bend.knots[-2], self.bend.lines.columns.slope[-2]

    def _cdf(self, s: Array) -> Array:
        return self.bend._cdf(self.law._cdf(s))

    def _cdf_left(self, s: Array) -> Array:
        """Where scores are tied, the line jumps; the distribution itself does not."""
        return self.bend._cdf_left(self.law._cdf(s))

    def _sf(self, s: Array) -> Array:
        above, (reach, slope) = self.law._sf(s), self._last
        return namespace(s).where(above < reach, slope * above, 1 - self._cdf(s))

    def _ppf(self, p: Array) -> Array:
        return self.law._ppf(self.bend._ppf(p))

    def _ppf_logit(self, s: Array) -> Array:
        """In the last piece from the mass above, which does not round to 0."""
        xp, (reach, slope) = namespace(s), self._last
        rest = sigmoid(-s) / slope
        last = rest < reach
        far = self.law._ppf_logit(-logit(xp.where(last, rest, xp.full_like(rest, 0.5))))
        return xp.where(last, far, self._ppf(sigmoid(s)))

    def _logpdf(self, s: Array) -> Array:
        """By the slope of the line at F; at 1 that just below 1."""
        below = 1 - float(namespace(s).finfo(s.dtype).eps)
        return self.law._logpdf(s) + self.bend._logpdf(clip(self.law._cdf(s), 0.0, below))

    def _places(self, s: Array) -> Array:
        bends = self.law._ppf(self.bend.knots[1:-1])
        bends = concatenate([self.law._own_table.places[0, :], bends[namespace(bends).isfinite(bends)]])
        return bent_places(self, s, bends)

    def _describe(self) -> str:
        return f"{self.law!r}, {self.bend.knots.shape[0] - 2} bends"
