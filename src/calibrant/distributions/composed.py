"""What follows from H(y) = q(map(y)) for any increasing map."""

from __future__ import annotations

from calibrant._arrays import Array, namespace
from calibrant.distributions.base import Distribution
from calibrant.distributions.integrated import Integrated
from calibrant.distributions.maps import Increasing


class Composed(Integrated):
    """What follows from H(y) = q(map(y)) for any map."""

    map: Increasing
    q: Distribution

    @property
    def shape(self) -> tuple[int, ...]:
        return self.map.shape or self.q.shape

    def _cdf(self, y: Array) -> Array:
        return self.q._cdf(self.map(y))

    def _sf(self, y: Array) -> Array:
        return self.q._sf(self.map(y))

    def _cdf_left(self, y: Array) -> Array:
        return self.q._cdf_left(self.map(y))

    def _logcdf(self, y: Array) -> Array:
        return self.q._logcdf(self.map(y))

    def _logsf(self, y: Array) -> Array:
        return self.q._logsf(self.map(y))

    def _ppf(self, p: Array) -> Array:
        return self.map.inverse(self.q._ppf(p))

    def _ppf_logit(self, s: Array) -> Array:
        return self.map.inverse(self.q._ppf_logit(s))

    def _quantiles(self, p: Array) -> Array:
        """From the shared law's, looked up once for all rows; every row lifts them by itself."""
        if self.q.shape or not self.shape:
            return super()._quantiles(p)
        y = self.map.inverse(self.q._ppf(p[None, :]))
        return namespace(y).broadcast_to(y, (*self.shape, p.shape[0]))

    def _logpdf(self, y: Array) -> Array:
        s = self.map(y)
        xp, outside = namespace(s), namespace(s).isinf(s)  # beyond the support of the forecast there is no density
        slope = xp.where(outside, xp.zeros_like(s), self.map.log_slope(y))
        density = self.q._logpdf(xp.where(outside, xp.zeros_like(s), s))
        return xp.where(outside, xp.full_like(s, -xp.inf), density + slope)

    def _infinite_mass(self) -> tuple[float, float]:
        return self.q._infinite_mass()

    def _describe(self) -> str:
        return f"q={self.q!r}, map={type(self.map).__name__}"
