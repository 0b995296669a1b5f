"""A distribution given that it lies between bounds."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._arrays import Array, clip, namespace
from calibrant._batch import shared
from calibrant._special import safe_log, sigmoid
from calibrant.distributions.base import Distribution


@dataclass(frozen=True, eq=False, repr=False)
class Truncated(Distribution):
    """The distribution of Y given lower < Y < upper, for a batch: F is (F - below) / (1 - below - above) in between.

    `below` and `above` are what the base has beyond the bounds in each row, and on them where they are left out.
    """

    base: Distribution
    below: Array
    above: Array
    ends: tuple[float, float] = shared()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.base.shape

    @property
    def like(self) -> Array:
        return self.base.like

    def _parts(self) -> tuple[Array, Array, Array]:
        """What lies below, inside and above, as columns."""
        below, above = self._lift(self.below), self._lift(self.above)
        return below, 1 - below - above, above

    def _share(self, mass: Array, beyond: Array) -> Array:
        """Of what the base has inside, the part that is left of a mass that counts what lies beyond, too."""
        return clip((mass - beyond) / self._parts()[1], 0.0, 1.0)

    def _cdf(self, y: Array) -> Array:
        return self._share(self.base._cdf(y), self._parts()[0])

    def _cdf_left(self, y: Array) -> Array:
        return self._share(self.base._cdf_left(y), self._parts()[0])

    def _sf(self, y: Array) -> Array:
        return self._share(self.base._sf(y), self._parts()[2])

    def _ppf(self, p: Array) -> Array:
        below, inside, _ = self._parts()
        return clip(self.base._ppf(clip(below + p * inside, 0.0, 1.0)), *self.ends)

    def _ppf_logit(self, s: Array) -> Array:
        below, inside, above = self._parts()
        up, down = below + sigmoid(s) * inside, above + sigmoid(-s) * inside
        return clip(self.base._ppf_logit(safe_log(up) - safe_log(down)), *self.ends)

    def _logpdf(self, y: Array) -> Array:
        xp = namespace(y)
        within = (y > self.ends[0]) & (y < self.ends[1])
        density = self.base._logpdf(y) - safe_log(self._parts()[1])
        return xp.where(within, density, xp.full_like(density, -xp.inf))

    @property
    def lattice(self) -> tuple[float, float] | None:
        return self.base.lattice

    def _describe(self) -> str:
        return f"{self.base!r} in ({self.ends[0]:g}, {self.ends[1]:g})"
