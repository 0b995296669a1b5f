"""What follows from H(y) = q(map(y)) for any increasing map."""

from __future__ import annotations

from typing import Any

from calibrant._arrays import Array, anywhere, namespace
from calibrant.distributions.base import Distribution
from calibrant.distributions.integrated import Integrated
from calibrant.distributions.maps import Increasing
from calibrant.distributions.outline import Outline, within_floats
from calibrant.distributions.outlining import NO_MASS, outlined


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

    def _cdf_sides(self, y: Array) -> tuple[Array, Array]:
        return self.q._cdf_sides(self.map(y))

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
        s, slope = self.map.with_slope(y)
        xp, outside = namespace(s), namespace(s).isinf(s)  # beyond the support of the forecast there is no density
        if not anywhere(outside):
            return self.q._logpdf(s) + slope
        slope = xp.where(outside, xp.zeros_like(s), slope)
        density = self.q._logpdf(xp.where(outside, xp.zeros_like(s), s))
        return xp.where(outside, xp.full_like(s, -xp.inf), density + slope)

    def _mean_and_std(self) -> tuple[Array, Array]:
        """Both, from the same integrals."""
        found = self._at_centre()
        return self._mean_from(*found), self._std_from(*found)

    def _outline(self) -> Outline | None:
        """Through the images of the bends of q, or of its outlines where it has a law for each row."""
        if self.q.shape:
            return self._outline_of_outlines()
        return self._outline_of_rows() if self.shape and self.bends_often else super()._outline()

    def _outline_of_rows(self) -> Outline:
        s = self.q._breaks()
        s = s[(self.q._cdf(s) > NO_MASS) & (self.q._sf(s) > NO_MASS) | self.q.is_discrete]
        y = within_floats(self.map.inverse_at(s[None, :]))
        sides = (self.q._cdf_left(s), self.q._cdf(s), self.q._sf(s))
        if self.q.is_discrete:
            return Outline(y, *sides, namespace(y).zeros_like(y[..., 1:]))
        return outlined(self, y, *sides)

    def _outline_of_outlines(self) -> Outline | None:
        outline = self.q._outline()
        if outline is None:
            return None
        y = within_floats(self.map.inverse(outline.y))
        return outlined(self, y, outline.left, outline.right, outline.rest)

    @property
    def is_discrete(self) -> bool:
        return self.q.is_discrete

    @property
    def bends_often(self) -> bool:
        return self.q.bends_often

    def _infinite_mass(self) -> tuple[Any, Any]:
        return self.q._infinite_mass()

    def _describe(self) -> str:
        return f"q={self.q!r}, map={type(self.map).__name__}"
