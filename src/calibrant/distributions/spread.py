"""A distribution of counts spread evenly over the gaps between them: that of K + U."""

from __future__ import annotations

import math
from dataclasses import dataclass

from calibrant._arrays import Array, clip, concatenate, namespace
from calibrant._special import safe_log, sigmoid
from calibrant.distributions.base import Distribution, Moments
from calibrant.distributions.on_lattice import OnLattice, position
from calibrant.distributions.table import MassTable


@dataclass(frozen=True, eq=False, repr=False)
class SpreadLaw(Distribution):
    """The distribution of Y + step * U, Y ~ base on a lattice, U uniform in (0, 1).

    F(y + step * u) = F(y-) + u P(Y = y): its CDF runs straight from each point of the lattice to the next. What
    calibrates spread labels is a forecast that is spread as they are.

    >>> from calibrant.distributions import Poisson
    >>> SpreadLaw(Poisson([0.5, 3.0])).median()
    array([0.82436064, 3.34283744])
    """

    base: Distribution

    def __post_init__(self) -> None:
        if not isinstance(self.base, Distribution) or self.base.lattice is None:
            raise TypeError(
                f"SpreadLaw.base must be a distribution on a lattice, such as Poisson(3.0), got {self.base!r}"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        return self.base.shape

    @property
    def like(self) -> Array:
        return self.base.like

    @property
    def _step(self) -> float:
        return self.base.lattice[1]  # type: ignore[index]

    def _points(self, y: Array) -> tuple[Array, Array, Array]:
        """The point before, the point, and t in [0, 1), y = point + step * t."""
        origin, step = self.base.lattice  # type: ignore[misc]
        k, t = position(y, (origin, step))
        return origin + step * (k - 1), origin + step * k, t

    def _cdf(self, y: Array) -> Array:
        before, point, t = self._points(y)
        return (1 - t) * self.base._cdf(before) + t * self.base._cdf(point)

    def _cdf_left(self, y: Array) -> Array:
        """The same but at +inf, where the base may have mass."""
        _, point, t = self._points(y)
        return (1 - t) * self.base._cdf_left(point) + t * self.base._cdf(point)

    def _sf(self, y: Array) -> Array:
        before, point, t = self._points(y)
        return (1 - t) * self.base._sf(before) + t * self.base._sf(point)

    def _logpdf(self, y: Array) -> Array:
        return self.base._logpdf(self._points(y)[1]) - math.log(self._step)

    def _logit(self, y: Array) -> tuple[Array, Array]:
        """From F and 1 - F at both ends of the cell, which tell its mass too."""
        xp, (before, point, t) = namespace(y), self._points(y)
        (F0, S0), (F1, S1) = ((self.base._cdf(end), self.base._sf(end)) for end in (before, point))
        below, above = (safe_log((1 - t) * start + t * end) for start, end in ((F0, F1), (S0, S1)))
        mass = safe_log(xp.where(S0 < F1, S0 - S1, F1 - F0))
        outside = xp.isinf(below) | xp.isinf(above)
        slope = mass - math.log(self._step) - xp.where(outside, 0 * t, below + above)
        return below - above, xp.where(outside, xp.full_like(slope, xp.inf), slope)

    def _ppf(self, p: Array) -> Array:
        """In the cell of the quantile y of the base, (p - F(y-)) / P(y) of the way."""
        y = self.base._ppf(p)
        return self._within(y, (p - self.base._cdf_left(y)) / self._mass(y))

    def _ppf_logit(self, s: Array) -> Array:
        """From the nearer end."""
        y = self.base._ppf_logit(s)
        below, above = sigmoid(s) - self.base._cdf_left(y), sigmoid(-s) - self.base._sf(y)
        mass = self._mass(y)
        return self._within(y, namespace(s).where(s <= 0, below / mass, 1 - above / mass))

    def _mass(self, y: Array) -> Array:
        xp, finite = namespace(y), namespace(y).isfinite(y)
        mass = xp.exp(self.base._logpdf(xp.where(finite, y, xp.zeros_like(y))))
        return xp.where(finite & (mass > 0), mass, xp.ones_like(mass))

    def _within(self, y: Array, share: Array) -> Array:
        xp = namespace(y)
        return xp.where(xp.isfinite(y), y + self._step * clip(share, 0.0, 1.0), y)

    def mean(self) -> Array:
        """That of the base, and half a step."""
        return self.base.mean() + self._step / 2

    def std(self) -> Array:
        """The variance of step * U is step^2 / 12."""
        variance = self.base.std() ** 2 + self._step**2 / 12
        return namespace(variance).sqrt(variance)

    def _moments(self) -> Moments:
        return Moments(self.mean(), self.std(), super()._moments().shift)

    def _table(self, count: int) -> MassTable:
        """That of the base, with the mass of each point on the step from there on."""
        of = self.base._table(count)
        xp, ends = namespace(of.places), of.places + self._step
        if not isinstance(self.base, OnLattice):  # a table that may hold a point several times
            return MassTable.through(self._in_double, xp.sort(concatenate([of.places, ends], axis=1), axis=1))
        inner = xp.minimum(ends[:, :-1], of.places[:, 1:])
        columns = (
            concatenate([xp.reshape(xp.stack(pair, axis=2), (pair[0].shape[0], -1)), last], axis=1)
            for pair, last in (
                ((of.places[:, :-1], inner), concatenate([of.places[:, -1:], ends[:, -1:]], axis=1)),
                ((of.atoms[:, :-1], of.masses), of.atoms[:, -1:]),
                ((0 * of.bulges, of.bulges), 0 * of.atoms[:, -1:]),
            )
        )
        places, masses, bulges = columns
        return MassTable(places, 0 * places, masses, bulges, of.tails, of.infinite)

    def _describe(self) -> str:
        return repr(self.base)
