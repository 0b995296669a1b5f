"""What follows from H(y) = q(map(y)) for any increasing map."""

from __future__ import annotations

from typing import Any

from calibrant._arrays import Array, anywhere, clip, concatenate, device_like, namespace
from calibrant._kept import keep
from calibrant.distributions.base import Distribution
from calibrant.distributions.integrated import Integrated
from calibrant.distributions.maps import Increasing
from calibrant.distributions.outline import Outline, bends

_NO_MASS = 1e-10  # beyond which the square of a probability does not count
_BULGE, _PARTS = 1e-6, 4  # of the spread of a law: how much its CDF may bulge, or the piece is cut into parts


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
        """Through the images of the bends of q."""
        if self.q.shape or not self.q.bends_often:
            return None
        return self._outline_of_rows() if self.shape else keep(self, "outline", self._outline_of_one)

    def _outline_of_one(self) -> Outline:
        """How much it bulges is known from its integrals; where that is much, there are points between."""
        s = self.q._breaks()
        xp = namespace(s)
        s = s[(self.q._cdf(s) > _NO_MASS) & (self.q._sf(s) > _NO_MASS)]
        outline = self._outline_through(s)
        much = xp.abs(outline.bulge()) > _BULGE * self._spread()
        inner = [(s[:-1] + (s[1:] - s[:-1]) * (k / _PARTS))[much] for k in range(1, _PARTS)]
        return self._outline_through(xp.sort(concatenate([s, *inner])))

    def _outline_through(self, s: Array) -> Outline:
        y, left, right = _within_floats(self.map.inverse(s)), self.q._cdf_left(s), self.q._cdf(s)
        below, h = self._partial_moments(y).lower, y[1:] - y[:-1]
        return Outline(y, left, right, bends(y, below[1:] - below[:-1] - h * (right[:-1] + left[1:]) / 2))

    def _spread(self) -> Array:
        """The length of the inner four fifths."""
        return self._ppf(device_like(0.9, self.like)) - self._ppf(device_like(0.1, self.like))

    def _outline_of_rows(self) -> Outline:
        """With points halfway between, as far as q has mass."""
        s = self.q._breaks()
        xp = namespace(s)
        s = s[(self.q._cdf(s) > _NO_MASS) & (self.q._sf(s) > _NO_MASS) | self.q.is_discrete]
        if not self.q.is_discrete:
            s = concatenate([xp.reshape(xp.stack([s[:-1], (s[:-1] + s[1:]) / 2], axis=1), (-1,)), s[-1:]])
        y, left, right = _within_floats(self.map.inverse_at(s[None, :])), self.q._cdf_left(s), self.q._cdf(s)
        return Outline(y, left, right, xp.zeros_like(y[..., 1:]) if self.q.is_discrete else _parabolas(y, left, right))

    @property
    def is_discrete(self) -> bool:
        return self.q.is_discrete

    def _infinite_mass(self) -> tuple[Any, Any]:
        return self.q._infinite_mass()

    def _describe(self) -> str:
        return f"q={self.q!r}, map={type(self.map).__name__}"


def _within_floats(y: Array) -> Array:
    """Kept where distances are still floats."""
    most = float(namespace(y).finfo(y.dtype).max) / 4
    return clip(y, -most, most)


def _parabolas(y: Array, left: Array, right: Array) -> Array:
    """The second derivatives of the parabolas through every second point, the next one, and the one after that."""
    xp = namespace(y)
    h, rise = y[..., 1:] - y[..., :-1], left[..., 1:] - right[..., :-1]
    wide = h > 0
    slope = xp.where(wide, rise / xp.where(wide, h, xp.ones_like(h)), xp.zeros_like(h))
    both = y[..., 2::2] - y[..., :-2:2]
    smooth = wide[..., ::2] & wide[..., 1::2]
    bend = xp.where(
        smooth, 2 * (slope[..., 1::2] - slope[..., ::2]) / xp.where(smooth, both, xp.ones_like(both)), 0 * both
    )
    return xp.reshape(xp.stack([bend, bend], axis=-1), h.shape)
