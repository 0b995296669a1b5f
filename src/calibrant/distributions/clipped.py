"""A law censored at bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from calibrant._arrays import Array, clip, device_like, namespace
from calibrant._batch import shared
from calibrant.distributions.base import (
    Distribution,
    Integrated,
    PartialMoments,
    Squares,
    moments_beyond,
    squares_beyond,
)


@dataclass(frozen=True, eq=False, repr=False)
class Clipped(Integrated):
    """The law of min(max(Y, lower), upper), Y ~ law: exact wherever the law's own integrals are."""

    law: Distribution
    lower: float = shared()
    upper: float = shared()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.law.shape

    def _cdf(self, y: Array) -> Array:
        return self._outside(y, y < self.lower, y >= self.upper, self.law._cdf)

    def _cdf_left(self, y: Array) -> Array:
        return self._outside(y, y <= self.lower, y > self.upper, self.law._cdf_left)

    def _outside(self, y: Array, low: Array, high: Array, inside: Array) -> Array:
        xp = namespace(y)
        F = inside(clip(y, self.lower, self.upper))
        return xp.where(low, xp.zeros_like(F), xp.where(high, xp.ones_like(F), F))

    def _sf(self, y: Array) -> Array:
        xp = namespace(y)
        S = self.law._sf(clip(y, self.lower, self.upper))
        return xp.where(y < self.lower, xp.ones_like(S), xp.where(y >= self.upper, xp.zeros_like(S), S))

    def _ppf(self, p: Array) -> Array:
        return clip(self.law._ppf(p), self.lower, self.upper)

    def _logpdf(self, y: Array) -> Array:
        xp = namespace(y)
        density = self.law._logpdf(clip(y, self.lower, self.upper))
        return xp.where((y < self.lower) | (y > self.upper), xp.full_like(density, -xp.inf), density)

    def _partial_moments(self, y: Array) -> PartialMoments:
        xp = namespace(y)
        inside = clip(y, self.lower, self.upper)
        lower, lower2, upper, upper2 = self.law._partial_moments(inside)
        if math.isfinite(self.lower):
            base, base2, *_ = self.law._partial_moments(self._bound(self.lower))
            lower2 = lower2 - base2 - (inside - self.lower) * base
            lower = lower - base
        if math.isfinite(self.upper):
            *_, base, base2 = self.law._partial_moments(self._bound(self.upper))
            upper2 = upper2 - base2 - (self.upper - inside) * base
            upper = upper - base
        zero = xp.zeros_like(y)
        over, under = xp.maximum(y - inside, zero), xp.maximum(inside - y, zero)
        return moments_beyond(PartialMoments(lower, lower2, upper, upper2), over, under, (0.0, 0.0))

    def _squares(self, y: Array) -> Squares:
        xp = namespace(y)
        inside = clip(y, self.lower, self.upper)
        lower, upper = self.law._squares(inside)
        if math.isfinite(self.lower):
            lower = lower - self.law._squares(self._bound(self.lower)).lower
        if math.isfinite(self.upper):
            upper = upper - self.law._squares(self._bound(self.upper)).upper
        zero = xp.zeros_like(y)
        over, under = xp.maximum(y - inside, zero), xp.maximum(inside - y, zero)
        return squares_beyond(Squares(lower, upper), over, under, (0.0, 0.0))

    def _bound(self, value: float) -> Array:
        bound = device_like(value, self._like)
        return bound[None, None] if self.shape else bound

    def _infinite_mass(self) -> tuple[float, float]:
        below, above = self.law._infinite_mass()
        return 0.0 if math.isfinite(self.lower) else below, 0.0 if math.isfinite(self.upper) else above

    def _clipped(self, lower: float, upper: float) -> Distribution:
        return (
            Clipped(self.law, max(lower, self.lower), min(upper, self.upper))
            if (lower < self.upper and upper > self.lower)
            else Clipped(self, lower, upper)
        )

    def _describe(self) -> str:
        return f"{self.law!r} to [{self.lower:g}, {self.upper:g}]"
