"""Mean, std and CRPS from the integrals of a CDF."""

from __future__ import annotations

import numpy as np

from calibrant._arrays import Array, device_like, namespace
from calibrant.distributions.base import Distribution
from calibrant.distributions.integrals import PartialMoments


class Integrated(Distribution):
    """A law whose mean, std and crps follow from its partial moments and squares."""

    def _mean(self) -> Array:
        return self._mean_from(*self._at_centre())

    def _std(self) -> Array:
        return self._std_from(*self._at_centre())

    def _mean_from(self, centre: Array, part: PartialMoments) -> Array:
        xp = namespace(centre)
        below, above = (mass + xp.zeros_like(centre) for mass in self._infinite_mass())
        no_upper, no_lower = xp.isinf(part.upper) | (above > 0), xp.isinf(part.lower) | (below > 0)
        settled = [xp.where(no_upper | no_lower, xp.zeros_like(side), side) for side in (part.upper, part.lower)]
        one_sided = xp.where(no_upper, xp.full_like(centre, xp.inf), xp.full_like(centre, -xp.inf))
        missing = xp.where(no_upper & no_lower, xp.full_like(centre, xp.nan), one_sided)
        return self._at_home(xp.where(no_upper | no_lower, missing, centre + (settled[0] - settled[1])))

    def _std_from(self, centre: Array, part: PartialMoments) -> Array:
        xp = namespace(centre)
        below, above = self._infinite_mass()
        with np.errstate(over="ignore", invalid="ignore"):  # a square that is no float is infinite
            square = 2 * (part.upper2 + part.lower2)
        finite = xp.isfinite(square) & (below + above + xp.zeros_like(centre) == 0)
        sides = [xp.where(finite, side, xp.zeros_like(square)) for side in (part.upper, part.lower)]
        bias = sides[0] - sides[1]
        variance = xp.where(finite, square, xp.ones_like(square)) - bias**2
        std = xp.sqrt(xp.maximum(variance, xp.zeros_like(variance)))
        return self._at_home(xp.where(finite, std, xp.full_like(std, xp.inf)))

    def _crps(self, y: Array) -> Array:
        squares = self._squares(y)
        crps = self._at_home(squares.lower + squares.upper)
        below, above = self._infinite_mass()
        if isinstance(below, float) and isinstance(above, float):
            return crps if below == above == 0 else namespace(crps).full_like(crps, np.inf)
        infinite = self._lift(below + above + namespace(crps).zeros_like(crps[..., 0])) > 0
        return namespace(crps).where(infinite, namespace(crps).full_like(crps, np.inf), crps)

    def _at_centre(self) -> tuple[Array, PartialMoments]:
        """A middle point of each law and the partial moments there; around it nothing cancels."""
        half = device_like(0.5, self.like)
        centre = self._centre(self._ppf(half[None, None] if self.shape else half))
        part = self._partial_moments(centre)
        if not self.shape:
            return centre, part
        return centre[:, 0], PartialMoments(*(moment[:, 0] for moment in part))

    def _at_home(self, value: Array) -> Array:
        """In the law's own precision, see `in_double`."""
        with np.errstate(over="ignore"):
            return namespace(value).astype(value, self.like.dtype, copy=False)

    def _centre(self, median: Array) -> Array:
        """Where to measure the moments from: the median, if it is finite."""
        xp = namespace(median)
        return xp.where(xp.isfinite(median), median, xp.zeros_like(median))
