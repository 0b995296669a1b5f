"""A law bent by a broken line from (0, 0) to (1, 1)."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._arrays import Array, clip, concatenate, namespace
from calibrant._batch import shared
from calibrant._special import log_logistic, safe_log, sigmoid
from calibrant.distributions.base import Distribution
from calibrant.distributions.piecewise import PiecewiseLinear
from calibrant.distributions.tabulated import ByTable


@dataclass(frozen=True, eq=False, repr=False)
class Guarded(ByTable):
    """F(s) = bend(law.cdf(s)), with `bend` an increasing broken line from (0, 0) to (1, 1).

    Mean, std and crps by quadrature between the bends (relative error about 1e-9).
    """

    law: Distribution = shared()
    bend: PiecewiseLinear = shared()

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def _cdf(self, s: Array) -> Array:
        return self.bend._cdf(self.law._cdf(s))

    def _sf(self, s: Array) -> Array:
        """Above the last bend the line runs straight to (1, 1), so 1 - F is a multiple of the law's own."""
        xp = namespace(s)
        above = self.law._sf(s)
        last, slope = 1 - self.bend.knots[-2], self.bend._tables.slope[-2]
        return xp.where(above < last, slope * above, 1 - self._cdf(s))

    def _logcdf(self, s: Array) -> Array:
        """Below the first bend the line runs straight from (0, 0), so F is a multiple of the law's own."""
        xp = namespace(s)
        below = self.law._logcdf(s)
        first, slope = safe_log(self.bend.knots[1]), safe_log(self.bend._tables.slope[1])
        return xp.where(below < first, slope + below, safe_log(self._cdf(s)))

    def _logsf(self, s: Array) -> Array:
        xp = namespace(s)
        above = self.law._logsf(s)
        last, slope = safe_log(1 - self.bend.knots[-2]), safe_log(self.bend._tables.slope[-2])
        return xp.where(above < last, slope + above, safe_log(self._sf(s)))

    def _ppf(self, p: Array) -> Array:
        return self.law._ppf(self.bend._ppf(p))

    def _logpdf(self, s: Array) -> Array:
        value, log_slope = self.law._logit_and_log_slope(s)
        xp, outside = namespace(s), namespace(s).isinf(value)
        log_slope = xp.where(outside, xp.zeros_like(value), log_slope)  # where F is 0 or 1 there is no density
        return log_logistic(value) + log_slope + self.bend._logpdf(self._inside(sigmoid(value)))

    def _inside(self, p: Array) -> Array:
        # the density of the bend at 1 is that just below 1
        xp = namespace(p)
        return clip(p, 0.0, 1 - float(xp.finfo(p.dtype).eps))

    @property
    def bends_often(self) -> bool:
        return self.bend.knots.shape[0] > 2

    def _breaks(self) -> Array:
        xp = namespace(self.bend.knots)
        bends = self.law._ppf(self.bend.knots[1:-1])
        return xp.sort(concatenate([self.law._breaks(), bends[xp.isfinite(bends)]]))

    def _describe(self) -> str:
        return f"{self.law!r}, {self.bend.knots.shape[0] - 2} bends"
