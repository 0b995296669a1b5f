"""A distribution bent by a broken line from (0, 0) to (1, 1)."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._arrays import Array, clip, concatenate, namespace
from calibrant._batch import shared
from calibrant._special import log_sigmoid, logit, safe_log, sigmoid
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
    def _outer(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Of the first piece of the line and of the last: how far it reaches from its end, and its slope."""
        knots, slope = self.bend.knots, self.bend.lines.pieces.slope
        return (knots[1], slope[0]), (1 - knots[-2], slope[-2])

    def _cdf(self, s: Array) -> Array:
        return self.bend._cdf(self.law._cdf(s))

    def _cdf_left(self, s: Array) -> Array:
        """Where scores are tied, the line jumps; the distribution itself does not."""
        return self.bend._cdf_left(self.law._cdf(s))

    def _sf(self, s: Array) -> Array:
        above, (reach, slope) = self.law._sf(s), self._outer[1]
        return namespace(s).where(above < reach, slope * above, 1 - self._cdf(s))

    def _logit(self, s: Array) -> tuple[Array, Array]:
        xp, (value, log_slope) = namespace(s), self.law._logit(s)
        outside = xp.isinf(value)
        inside = xp.where(outside, xp.zeros_like(value), value)
        own, masses = (log_sigmoid(inside), log_sigmoid(-inside)), (self._cdf(s), self._sf(s))
        below, above = (
            xp.where(outside | (log_u < safe_log(reach)), log_u + safe_log(slope), safe_log(mass))
            for log_u, mass, (reach, slope) in zip(own, masses, self._outer, strict=True)
        )
        log_slope = log_slope + self._log_bend(inside) + (own[0] - below) + (own[1] - above)
        return xp.where(outside, value, below - above), xp.where(outside, xp.full_like(value, xp.inf), log_slope)

    def _ppf(self, p: Array) -> Array:
        return self.law._ppf(self.bend._ppf(p))

    def _ppf_logit(self, s: Array) -> Array:
        """In the last piece from the mass above, which does not round to 0."""
        xp, (reach, slope) = namespace(s), self._outer[1]
        rest = sigmoid(-s) / slope
        last = rest < reach
        far = self.law._ppf_logit(-logit(xp.where(last, rest, xp.full_like(rest, 0.5))))
        return xp.where(last, far, self._ppf(sigmoid(s)))

    def _logpdf(self, s: Array) -> Array:
        value, _ = self.law._logit(s)
        return self.law._logpdf(s) + self._log_bend(value)

    def _log_bend(self, value: Array) -> Array:
        """The log slope of the line at a logit; at 1 that just below 1."""
        eps = float(namespace(value).finfo(value.dtype).eps)
        return self.bend._logpdf(clip(sigmoid(value), 0.0, 1 - eps))

    def _places(self, s: Array) -> Array:
        bends = self.law._ppf(self.bend.knots[1:-1])
        bends = concatenate([self.law._own_table.places[0, :], bends[namespace(bends).isfinite(bends)]])
        return bent_places(self, s, bends)

    def _describe(self) -> str:
        return f"{self.law!r}, {self.bend.knots.shape[0] - 2} bends"
