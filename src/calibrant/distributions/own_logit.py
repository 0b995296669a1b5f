"""The CDF of a distribution as a map: as its logit, on which neither tail saturates, or as it is."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._arrays import Array, anywhere, clip, device_like, namespace
from calibrant._search import Curve
from calibrant.distributions.base import Distribution
from calibrant.distributions.table import REACH, logit_levels, side_by_side

_LEVELS = 129  # whose quantiles bracket all others


class _OfDistribution:
    """A map for each distribution of `distribution`."""

    distribution: Distribution

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the distributions."""
        return self.distribution.shape

    @property
    def like(self) -> Array:
        """One of their arrays."""
        return self.distribution.like


@dataclass(frozen=True, eq=False)
class OwnLogit(_OfDistribution):
    """y -> log F(y) - log(1 - F(y)) of each distribution: what makes of any of them the standard logistic one."""

    distribution: Distribution

    def __call__(self, y: Array) -> Array:
        """From F and 1 - F themselves, where both have all their digits."""
        F, S = self.distribution._cdf(y), self.distribution._sf(y)
        xp, tiny = namespace(F), 1e3 * float(namespace(F).finfo(F.dtype).smallest_normal)
        if anywhere((tiny > F) | (tiny > S)):
            return self.distribution._logit(y)[0]
        return xp.log(F) - xp.log(S)

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        """The logit and the log of its slope."""
        return self.distribution._logit(y)

    def log_slope(self, y: Array) -> Array:
        """log f - log F - log(1 - F)."""
        return self.distribution._logit(y)[1]

    def inverse(self, s: Array) -> Array:
        """The quantile at sigmoid(s)."""
        return self.distribution._ppf_logit(s)

    def inverse_with_width(self, s: Array) -> tuple[Array, Array]:
        """The quantiles of many increasing s, and dy/ds there."""
        if not self.shape:
            y = self.inverse(s)
            return y, namespace(y).exp(-self.log_slope(y))
        xp, far, curve = namespace(s), namespace(s).abs(s) > REACH, self._curve
        if anywhere(far):  # a row without such s has its last place once more
            some = xp.nonzero(xp.any(far, axis=0))[0]
            curve = self._through(xp.take(xp.where(far, s, xp.full_like(s, REACH)), some, axis=1))
        return curve.inverse(self.distribution._logit, s)

    def _through(self, more: Array) -> Curve:
        """The logit at some places of each distribution, those at the logits `more`, (1, k) or (n, k), among them."""
        levels = device_like(logit_levels(_LEVELS)[None, :], self.like)
        levels = namespace(levels).sort(side_by_side([levels, more]), axis=1)
        return Curve.of(self.distribution._logit, self.distribution._places(levels))

    @property
    def _curve(self) -> Curve:
        """That which all s up to REACH need."""
        return self.distribution.remember("_kept_curve", lambda: self._through(device_like([[]], self.like)))

    @property
    def bends(self) -> Array | None:
        """Of forecasts with several modes, the logits on either side of each gap, (n, k), filled up with NaN."""
        return self._curve.jumps() if self.shape else None


@dataclass(frozen=True, eq=False)
class OwnCDF(_OfDistribution):
    """y -> F(y) of each distribution."""

    distribution: Distribution

    def __call__(self, y: Array) -> Array:
        """F(y)."""
        return self.distribution._cdf(y)

    def inverse(self, s: Array) -> Array:
        """The quantile; the ends of the distribution for what no probability is."""
        return self.distribution._ppf(clip(s, 0.0, 1.0))

    def log_slope(self, y: Array) -> Array:
        """log f."""
        return self.distribution._logpdf(y)
