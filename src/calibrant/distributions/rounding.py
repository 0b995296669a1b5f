"""From the line to a lattice and back: a distribution rounded down, and one of counts spread over its steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from calibrant._arguments import one_number
from calibrant._arrays import Array, anywhere, clip, concatenate, device_like, namespace
from calibrant._special import safe_log, sigmoid
from calibrant.distributions.base import Distribution, Moments
from calibrant.distributions.mixture import Mixture
from calibrant.distributions.on_lattice import OnLattice, halved, position
from calibrant.distributions.table import ONCE, MassTable


@dataclass(frozen=True, eq=False, repr=False)
class Lattice(OnLattice):
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
        step = one_number("Lattice.step", self.step)
        if not 0 < step < math.inf:
            raise ValueError(f"Lattice.step must be positive and finite, got {self.step!r}")
        object.__setattr__(self, "step", step)
        if self.lower is not None:
            lower = one_number("Lattice.lower", self.lower)
            if not math.isfinite(lower):
                raise ValueError(f"Lattice.lower must be finite or None, got {self.lower!r}")
            object.__setattr__(self, "lower", lower)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.base.shape

    @property
    def like(self) -> Array:
        return np.zeros(0) if self.base.like is None else self.base.like

    @property
    def origin(self) -> float:
        return 0.0 if self.lower is None else self.lower

    @property
    def points(self) -> tuple[float, float | None]:
        """What its points are: from one to the next, and the first."""
        return self.step, self.lower

    def _ends(self) -> tuple[Any, Any]:
        return -math.inf if self.lower is None else 0.0, math.inf

    def _infinite(self) -> tuple[Any, Any]:
        """Mass of the base at -inf sits on `lower`, where there is one."""
        far = device_like([[-np.inf, np.inf]] if self.shape else [-np.inf, np.inf], self.like)
        below, above = self.base._cdf(far)[..., :1], 1 - self.base._cdf_left(far)[..., 1:]
        if not anywhere(below + above > 0):
            return 0.0, 0.0
        return below if self.lower is None else 0 * below, above

    # ---- cells -----------------------------------------------------------------------------------------------------

    def _from_first(self, k: Array, value: Array, before: float) -> Array:
        """`value`, or `before` for points below the first."""
        return value if self.lower is None else namespace(k).where(k < 0, before + 0 * value, value)

    def _below(self, k: Array) -> Array:
        return self._from_first(k, self.base._cdf_left(self._place(k + 1)), 0.0)

    def _above(self, k: Array) -> Array:
        y = self._place(k + 1)
        return self._from_first(k, self.base._sf(y) + (self.base._cdf(y) - self.base._cdf_left(y)), 1.0)

    def _log_mass(self, k: Array) -> Array:
        """log(F(b) - F(a)) over the cell [a, b), from the tail that it lies in, so that little cancels."""
        F0, F1, S0, S1 = self._below(k - 1), self._below(k), self._above(k - 1), self._above(k)
        return safe_log(namespace(k).where(S0 < F1, S0 - S1, F1 - F0))

    def _pit(self, y: Array, u: Array) -> Array:
        """H'(y + step * u): uniform where H' is calibrated for Y + step * U."""
        k, t = position(y, self.lattice)
        return self.base._cdf(self._place(k + namespace(y).where(t > 0, namespace(y).ones_like(t), u)))

    # ---- quantiles -------------------------------------------------------------------------------------------------

    def _cell(self, y: Array) -> Array:
        """The k of the cell (k, k + 1] that y lies in."""
        k = namespace(y).ceil((y - self.origin) / self.step) - 1
        return k if self.lower is None else namespace(k).maximum(k, namespace(k).zeros_like(k))

    def _least(self, name: str, level: Array, enough: Callable[[Array], Array], none: Array, every: Array) -> Array:
        """Beside the quantile of the base, or of a mixture between those of its components."""
        xp, base = namespace(level), self.base
        ends = base.ends(name, level) if isinstance(base, Mixture) else [getattr(base, name)(level)]
        cells = [self._cell(end) for end in ends]
        low, high = (reduce(pick, cells) for pick in (xp.minimum, xp.maximum))
        if len(cells) > 1 and anywhere(~(xp.isfinite(low) & xp.isfinite(high))):
            low = high = self._cell(getattr(base, name)(level))
        inner = xp.isfinite(low) & ~none & ~every
        start, end = (xp.where(inner, k, 0 * z) for k, z in ((low, level), (high, level)))
        found = halved(start - 2, end + 1, enough)  # where rounding, or an atom on the lattice, asks for it
        return self._place(xp.where(inner, found, high))

    def _places(self, s: Array) -> Array:
        if not isinstance(self._infinite()[1], float):
            return super()._places(s)
        k = position(self.base._places(s), self.lattice)[0]
        return self._place(k if self.lower is None else namespace(k).maximum(k, 0 * k))

    # ---- sums ------------------------------------------------------------------------------------------------------

    def _bulges(self, k: Array, gap: Array, F: Array, F_left: Array) -> Array:
        """The sum of F over each gap, which is the integral of the base from mid-cell to mid-cell, less a trapezoid."""
        area = self.base._integrals(self._place(k) + self.step / 2, ONCE) / self.step
        return area[:, 1:] - area[:, :-1] - gap * (F[:, :-1] + F_left[:, 1:]) / 2

    def _describe(self) -> str:
        start = "" if self.lower is None else f" from {self.lower:g}"
        return f"{self.base!r} in steps of {self.step:g}{start}"


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

    def _sf(self, y: Array) -> Array:
        before, point, t = self._points(y)
        return (1 - t) * self.base._sf(before) + t * self.base._sf(point)

    def _logpdf(self, y: Array) -> Array:
        return self.base._logpdf(self._points(y)[1]) - math.log(self._step)

    def _ppf(self, p: Array) -> Array:
        """In the step of the quantile y of the base, (p - F(y-)) / P(y) of the way."""
        y = self.base._ppf(p)
        return self._within(y, lambda mass: (p - self.base._cdf_left(y)) / mass)

    def _ppf_logit(self, s: Array) -> Array:
        """From the nearer end."""
        y = self.base._ppf_logit(s)
        below, above = sigmoid(s) - self.base._cdf_left(y), sigmoid(-s) - self.base._sf(y)
        return self._within(y, lambda mass: namespace(s).where(s <= 0, below / mass, 1 - above / mass))

    def _within(self, y: Array, share: Callable[[Array], Array]) -> Array:
        """As far from y as the share of its mass says."""
        xp, finite = namespace(y), namespace(y).isfinite(y)
        mass = xp.exp(self.base._logpdf(xp.where(finite, y, xp.zeros_like(y))))
        there = finite & (mass > 0)
        part = clip(share(xp.where(there, mass, xp.ones_like(mass))), 0.0, 1.0)
        return xp.where(finite, y + self._step * part, y)

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
        """At the points of the base's table, and a step after each."""
        law, places = self._in_double, self.base._table(count).places
        ends = concatenate([places, places + self._step], axis=1)
        return MassTable.through(law, namespace(ends).sort(ends, axis=1))

    def _describe(self) -> str:
        return repr(self.base)
