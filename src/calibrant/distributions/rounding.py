"""From the line to a lattice and back: a distribution rounded down, and one of counts spread over its steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from calibrant._arrays import Array, anywhere, clip, concatenate, namespace
from calibrant._special import safe_log, sigmoid
from calibrant.distributions.base import ByLogit, ClosedMoments, Distribution
from calibrant.distributions.forwarding import OfBase
from calibrant.distributions.mixture import Mixture
from calibrant.distributions.on_lattice import OnLattice, check_lattice, halved, position
from calibrant.distributions.table import MassTable


@dataclass(frozen=True, eq=False, repr=False)
class Lattice(OfBase, OnLattice):
    """The distribution of Y = lower + step * floor((Y' - lower) / step), Y' ~ base: P(Y <= y) = P(Y' < y + step).

    The mass below `lower` sits on it. With `lower` None the lattice has no end; its points are the multiples of `step`.

    >>> from calibrant import Normal
    >>> Lattice(Normal([1.5, 3.0], [1.0, 2.0])).interval(0.8)
    (array([0., 0.]), array([2., 5.]))
    """

    base: Distribution
    step: float = field(default=1.0, metadata={"shared": True})
    lower: float | None = field(default=0.0, metadata={"shared": True})

    def __post_init__(self) -> None:
        if not isinstance(self.base, Distribution):
            raise TypeError(f"Lattice.base must be a Distribution, got {self.base!r}")
        check_lattice(self)

    @property
    def lattice(self) -> tuple[float, float]:
        return (0.0 if self.lower is None else self.lower), self.step

    def _ends(self) -> tuple[float, float]:
        return -math.inf if self.lower is None else 0.0, math.inf

    # ---- probabilities ---------------------------------------------------------------------------------------------

    def _below(self, k: Array) -> Array:
        return self.base._cdf_left(self._place(k + 1))

    def _above(self, k: Array) -> Array:
        y = self._place(k + 1)
        return self.base._sf(y) + (self.base._cdf(y) - self.base._cdf_left(y))

    def _log_mass(self, k: Array) -> Array:
        """log(F(b) - F(a)) over the cell [a, b), from the tail that it lies in, so that little cancels."""
        F0, F1, S0, S1 = self._up_to(k - 1), self._below(k), self._beyond(k - 1), self._above(k)
        return safe_log(namespace(k).where(S0 < F1, S0 - S1, F1 - F0))

    def _cdf(self, y: Array) -> Array:
        return self._beyond_all("_cdf", y, super()._cdf(y))

    def _sf(self, y: Array) -> Array:
        return self._beyond_all("_sf", y, super()._sf(y))

    def _cdf_left(self, y: Array) -> Array:
        return self._beyond_all("_cdf_left", y, super()._cdf_left(y))

    def _beyond_all(self, name: str, y: Array, value: Array) -> Array:
        """At infinity as the base; but where there is a first point, no mass is below it."""
        xp = namespace(y)
        far = xp.isinf(y) if self.lower is None else y == math.inf
        return xp.where(far, getattr(self.base, name)(y), value) if anywhere(far) else value

    def _pit(self, y: Array, u: Array) -> Array:
        """H'(y + step * u): uniform where H' is calibrated for Y + step * U."""
        k, t = position(y, self.lattice)
        return self.base._cdf(self._place(k + namespace(y).where(t > 0, 1.0, u)))

    # ---- quantiles -------------------------------------------------------------------------------------------------

    def _cell(self, y: Array) -> Array:
        """The k of the cell (k, k + 1] that y lies in, or the first."""
        (origin, step), (first, _), xp = self.lattice, self._ends(), namespace(y)
        return clip(xp.ceil((y - origin) / step) - 1, first, math.inf)

    def _least(self, name: str, level: Array, enough: Callable[[Array], Array], end: Array) -> Array:
        """Next to the quantile of the base, or of a mixture between the quantiles of its components."""
        xp, base = namespace(level), self.base
        ends = base._bracket(name, level) if isinstance(base, Mixture) else [getattr(base, name)(level)] * 2
        low, high = map(self._cell, ends)
        if isinstance(base, Mixture) and anywhere(~(xp.isfinite(low) & xp.isfinite(high))):
            low = high = self._cell(getattr(base, name)(level))
        inner = xp.isfinite(low) & ~end
        start, last = (xp.where(inner, k, 0.0) for k in (low, high))
        found = halved(start - 2, last + 1, enough)  # where rounding, or an atom on the lattice, asks for it
        return self._place(xp.where(inner, found, high))

    def _places(self, s: Array) -> Array:
        k = position(self.base._places(s), self.lattice)[0]
        return self._place(clip(k, self._ends()[0], math.inf))


@dataclass(frozen=True, eq=False, repr=False)
class SpreadDistribution(OfBase, ByLogit, ClosedMoments):
    """The distribution of Y + step * U, Y ~ base on a lattice, U uniform in (0, 1).

    F(y + step * u) = F(y-) + u P(Y = y): its CDF runs straight from each point of the lattice to the next. What
    calibrates spread labels is a forecast that is spread as they are.

    >>> from calibrant.distributions import Poisson
    >>> SpreadDistribution(Poisson([0.5, 3.0])).median()
    array([0.82436064, 3.34283744])
    """

    base: Distribution

    def __post_init__(self) -> None:
        if not isinstance(self.base, Distribution) or self.base.lattice is None:
            raise TypeError(
                f"SpreadDistribution.base must be a distribution on a lattice, such as Poisson(3.0), got {self.base!r}"
            )

    @property
    def _step(self) -> float:
        return self.base.lattice[1]  # type: ignore[index]

    def _point(self, y: Array) -> tuple[Array, Array]:
        """The point and t in [0, 1), y = point + step * t."""
        origin, step = self.base.lattice  # type: ignore[misc]
        k, t = position(y, (origin, step))
        return origin + step * k, t

    def _straight(self, ask: Callable[[Array], Array], y: Array) -> Array:
        point, t = self._point(y)
        return (1 - t) * ask(point - self._step) + t * ask(point)

    def _cdf(self, y: Array) -> Array:
        return self._straight(self.base._cdf, y)

    def _sf(self, y: Array) -> Array:
        return self._straight(self.base._sf, y)

    def _logpdf(self, y: Array) -> Array:
        return self.base._logpdf(self._point(y)[0]) - math.log(self._step)

    def _ppf_logit(self, s: Array) -> Array:
        """In the step of the quantile y of the base, (p - F(y-)) / P(y) of the way, from the nearer end."""
        xp, y = namespace(s), self.base._ppf_logit(s)
        mass = xp.exp(self.base._logpdf(xp.where(xp.isfinite(y), y, 0.0)))
        mass = xp.where(mass > 0, mass, 1.0)
        up, down = (sigmoid(s) - self.base._cdf_left(y)) / mass, (sigmoid(-s) - self.base._sf(y)) / mass
        return y + self._step * clip(xp.where(s <= 0, up, 1 - down), 0.0, 1.0)

    def _mean_std(self) -> tuple[Array, Array]:
        """The variance of step * U is step^2 / 12."""
        mean, std = self.base.mean(), self.base.std()
        return mean + self._step / 2, namespace(std).sqrt(std**2 + self._step**2 / 12)

    def _table(self, count: int) -> MassTable:
        """At the points of the base's table, and a step after each."""
        distribution, places = self._in_double, self.base._table(count).places
        ends = concatenate([places, places + self._step], axis=1)
        return MassTable.through(distribution, namespace(ends).sort(ends, axis=1))
