"""A law given that it lies between bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from calibrant._arrays import Array, clip, namespace
from calibrant._batch import shared
from calibrant._special import safe_log, sigmoid
from calibrant.distributions.base import Distribution
from calibrant.distributions.integrated import Integrated

_BESIDE = 0.01  # of what lies beyond an end or within both: so close to it differences are lost, and F is all but level


@dataclass(frozen=True, eq=False, repr=False)
class Truncated(Integrated):
    """The law of Y given lower < Y < upper, for a batch: F is (F - below) / (1 - below - above) in between.

    `below` and `above` are what the law has beyond the bounds in each row, and on them where they are left out.
    """

    law: Distribution
    below: Array
    above: Array
    ends: tuple[float, float] = shared()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.law.shape

    @property
    def like(self) -> Array:
        return self.law.like

    def _parts(self) -> tuple[Array, Array, Array]:
        """What lies below, inside and above, as columns."""
        below, above = self._lift(self.below), self._lift(self.above)
        return below, 1 - below - above, above

    def _cdf(self, y: Array) -> Array:
        return self._share(y, self.law._cdf(y), self.law._sf(y))

    def _cdf_left(self, y: Array) -> Array:
        left, right = self.law._cdf_sides(y)
        return self._share(y, left, namespace(left).where(left == right, self.law._sf(y), 1 - left))

    def _sf(self, y: Array) -> Array:
        return self._share(y, self.law._cdf(y), self.law._sf(y), above=True)

    def _share(self, y: Array, cdf: Array, sf: Array, *, above: bool = False) -> Array:
        """Of what the law has inside, how much lies below y, or above it."""
        sides = self._mass(y, cdf, 0), self._mass(y, sf, 1)
        return sides[above] / (sides[0] + sides[1])

    def _logcdf(self, y: Array) -> Array:
        return self._log(self._cdf(y), self.law._logcdf(y), self.below)

    def _logsf(self, y: Array) -> Array:
        return self._log(self._sf(y), self.law._logsf(y), self.above)

    def _mass(self, y: Array, beyond: Array, end: int) -> Array:
        """What lies between the lower end (0) and y, or y and the upper one (1): a difference, but beside the end."""
        mass = beyond - self._lift(self.above if end else self.below)
        if self._ends_within[end]:
            mass = namespace(mass).where(mass < self._little(end), self._beside(y, end), mass)
        return clip(mass, 0.0, 1.0)

    def _little(self, end: int) -> Array:
        """How much beside an end counts as close to it."""
        below, inside, above = self._parts()
        return _BESIDE * namespace(inside).minimum(above if end else below, inside)

    @property
    def _ends_within(self) -> tuple[bool, bool]:
        """Whether a continuous law is cut at its lower and its upper end."""
        lower, upper = self.ends
        return (not self.is_discrete and lower > -math.inf, not self.is_discrete and upper < math.inf)

    def _beside(self, y: Array, end: int) -> Array:
        """The integral of the density from an end to a y beside it, by Simpson's rule."""
        a = namespace(y).full_like(y, self.ends[end])
        f = [self._density(x) for x in (a, (a + y) / 2, y)]
        return (y - a) * (1 - 2 * end) * (f[0] + 4 * f[1] + f[2]) / 6

    def _density(self, y: Array) -> Array:
        density = self.law._logpdf(y)
        return namespace(density).exp(density)

    def _log(self, share: Array, tail: Array, beyond: Array) -> Array:
        """The log of a share: where nothing lies beyond that end, the tail's own, as far out as floats reach."""
        xp = namespace(share)
        _, inside, _ = self._parts()
        own = tail - safe_log(inside)
        return xp.where((self._lift(beyond) == 0) & (share < 0.5), own, safe_log(share))

    def _ppf(self, p: Array) -> Array:
        return self._quantile(self.law._ppf(clip(self._up_to(p), 0.0, 1.0)), p, 1 - p)

    def _ppf_logit(self, s: Array) -> Array:
        p, rest = sigmoid(s), sigmoid(-s)
        _, inside, above = self._parts()
        return self._quantile(self.law._ppf_logit(safe_log(self._up_to(p)) - safe_log(above + rest * inside)), p, rest)

    def _up_to(self, p: Array) -> Array:
        below, inside, _ = self._parts()
        return below + p * inside

    def _quantile(self, y: Array, p: Array, rest: Array) -> Array:
        """The law's own quantile; beside an end, where its level is all but that of the end, by Newton's method."""
        xp = namespace(y)
        inside = self._parts()[1]
        for end, share in enumerate((p, rest)):
            if self._ends_within[end]:
                mass = share * inside + xp.zeros_like(y)
                close = mass < self._little(end)
                x = xp.full_like(y, self.ends[end])
                for _ in range(3):
                    off = (mass - self._beside(x, end)) / self._density(x)
                    x = x + (1 - 2 * end) * xp.where(close, off, xp.zeros_like(off))
                y = xp.where(close, x, y)
        return clip(y, *self.ends)

    def _logpdf(self, y: Array) -> Array:
        xp = namespace(y)
        _, inside, _ = self._parts()
        within = (y > self.ends[0]) & (y < self.ends[1])
        density = self.law._logpdf(y) - safe_log(inside)
        return xp.where(within, density, xp.full_like(density, -xp.inf))

    @property
    def is_discrete(self) -> bool:
        return self.law.is_discrete

    @property
    def lattice(self) -> tuple[float, float] | None:
        return self.law.lattice
