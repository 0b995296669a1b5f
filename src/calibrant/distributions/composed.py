"""What follows from H(y) = q(map(y)) for any increasing map."""

from __future__ import annotations

import numpy as np

from calibrant._arrays import Array, clip, concatenate, device_like, namespace
from calibrant.distributions.base import Distribution
from calibrant.distributions.integrals import largest
from calibrant.distributions.integrated import Integrated
from calibrant.distributions.maps import Increasing

_BETWEEN = 4  # points of a CDF from one bend of q to the next


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

    def _mean_and_std(self) -> tuple[Array, Array]:
        """Both, from the same integrals."""
        found = self._at_centre()
        return self._mean_from(*found), self._std_from(*found)

    def _outline(self) -> tuple[Array, Array, Array] | None:
        """Through the images of the bends of q, and of some points between any two, since the map bends too."""
        if self.q.shape or not self.q.bends_often:
            return None
        s = self.q._breaks()
        xp = namespace(s)
        if not self.q.is_discrete:
            share = device_like(np.arange(_BETWEEN) / _BETWEEN, s)
            inner = s[:-1, None] + (s[1:] - s[:-1])[:, None] * share
            s = concatenate([xp.reshape(inner, (-1,)), s[-1:]])
        y = self.map.inverse_at(s[None, :]) if self.map.shape else self.map.inverse(s)
        return clip(y, -largest(y), largest(y)), self.q._cdf_left(s), self.q._cdf(s)

    def _infinite_mass(self) -> tuple[float, float]:
        return self.q._infinite_mass()

    def _describe(self) -> str:
        return f"q={self.q!r}, map={type(self.map).__name__}"
