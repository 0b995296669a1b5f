"""Random interpolation: atoms at the scores, and one uniform number per row for the mass that belongs to no score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._arguments import generator
from calibrant._arrays import Array, clip, device_like, namespace
from calibrant._batch import shared
from calibrant.distributions.base import Distribution, Moments, refuse_unused
from calibrant.distributions.context import Context
from calibrant.distributions.forwarding import Forwarding
from calibrant.distributions.pulled import ByRow, Increasing, Pull, no_rows_yet
from calibrant.distributions.reweighted import ratios_of
from calibrant.distributions.table import ONCE, MassTable


@dataclass(frozen=True, eq=False, repr=False)
class Randomised(ByRow):
    """(sum of w_i over s_i < u + U (w(x) + sum of w_i over s_i = u)) / (N + w(x)), one uniform U per row.

    N is the sum of all w_i, and `atoms` have masses in proportion to them. Without weights all are 1. A row is the
    mixture of `atoms` with weight N / (N + w), of the point `lower` with weight U w / (N + w) and of the point `upper`
    with the rest. Its CDF at an atom is random too, which keeps it exactly calibrated under ties; not so at the ends,
    where all mass counts that sits there, such as what was clipped. The ends are -+inf by default: then the mean is
    nan, std and crps are inf. All else is as exact as `atoms`.
    """

    atoms: Distribution
    lower: Array
    upper: Array
    uniform: Array
    ratio: Array
    total: float = shared()

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.uniform.shape)

    @property
    def like(self) -> Array:
        return self.uniform

    def _shares(self) -> tuple[Array, Array, Array]:
        """Of the atoms and of the two ends, in each row."""
        size = self.total + self.ratio
        return self.total / size, self.uniform * self.ratio / size, (1 - self.uniform) * self.ratio / size

    def _cdf(self, y: Array) -> Array:
        xp = namespace(y)
        core, low, _ = (self._lift(share) for share in self._shares())
        left = self.atoms._cdf_left(y)
        jump = self.atoms._cdf(y) - left
        U, lower = self._lift(self.uniform), self._lift(self.lower)
        F = low + core * (left + xp.where(y <= lower, jump, U * jump))
        F = xp.where(y < lower, xp.zeros_like(F), F)
        return xp.where(y >= self._lift(self.upper), xp.ones_like(F), F)

    def _cdf_left(self, y: Array) -> Array:
        xp = namespace(y)
        core, low, _ = (self._lift(share) for share in self._shares())
        F = low + core * self.atoms._cdf_left(y)
        F = xp.where(y <= self._lift(self.lower), xp.zeros_like(F), F)
        return xp.where(y > self._lift(self.upper), xp.ones_like(F), F)

    def _ppf(self, p: Array) -> Array:
        xp = namespace(p)
        own = self._lift(self.ratio)
        level = (p * (self.total + own) - self._lift(self.uniform) * own) / self.total
        y = self.atoms._ppf(clip(level, 0.0, 1.0))
        y = xp.where(level <= 0, self._lift(self.lower), y)
        return xp.where(level > 1, self._lift(self.upper), y)

    def _logpdf(self, y: Array) -> Array:
        xp = namespace(y)
        return xp.full_like(y + self._lift(self.uniform), -xp.inf)

    def _pit(self, y: Array, u: Array) -> Array:
        """The CDF, which is drawn already."""
        del u
        return self._cdf(y)

    def _moments(self) -> Moments:
        """Of the mixture: F = low + core A between the ends, so that E |Y - Y'| / 2 is a sum of four integrals."""
        xp, (core, low, high) = namespace(self.uniform), self._shares()
        own = self.atoms.remember("_kept_moments", self.atoms._moments)
        lower, upper = (xp.where(xp.isinf(end), xp.zeros_like(end), end) for end in (self.lower, self.upper))
        mean = core * own.mean + low * lower + high * upper
        square = core * (own.std**2 + (own.mean - mean) ** 2) + low * (lower - mean) ** 2 + high * (upper - mean) ** 2
        cross = core * (low * (own.mean - lower) + high * (upper - own.mean)) + low * high * (upper - lower)
        shift = mean - core**2 * (own.mean - own.shift) - cross
        inf, below, above = (
            xp.full_like(mean, np.inf),
            xp.isinf(self.lower) & (low > 0),
            xp.isinf(self.upper) & (high > 0),
        )
        far = xp.where(below, xp.where(above, np.nan * inf, -inf), inf)
        return Moments(
            *(xp.where(below | above, *pair) for pair in ((far, mean), (inf, xp.sqrt(square)), (inf, shift)))
        )

    def _integrals(self, y: Array, which: int) -> Array:
        """Of low + core A between the ends; what lies below an infinite lower end has no integral and is left out."""
        if which != ONCE:
            return super()._integrals(y, which)
        xp, (core, low, _) = namespace(y), (self._lift(share) for share in self._shares())
        lower, upper = self._lift(self.lower), self._lift(self.upper)
        inside = xp.minimum(xp.maximum(y, lower), upper)
        way = inside - xp.where(xp.isinf(lower), xp.zeros_like(lower), lower)
        return low * way + core * self.atoms._integrals(inside, ONCE) + xp.maximum(y - inside, 0 * y)

    def _table(self, count: int) -> MassTable:
        """That of the atoms, with the ends beside it."""
        law = self._in_double
        parts = (*law._shares(), law.lower, law.upper)
        core, low, high, first, last = (part[:, None] if self.shape else part[None, None] for part in parts)
        return law.atoms._table(count).to(law.uniform).beside(core, (low, high), (first, last))

    def _clip(self, lower: Any, upper: Any) -> Distribution:
        low, high = (clip(end, lower, upper) for end in (self.lower, self.upper))
        return replace(self, atoms=self.atoms._clip(lower, upper), lower=low, upper=high)

    def pulled(self, map: Increasing, pull: Pull) -> Distribution:
        """H: the ends and, by `pull`, the atoms pulled back through a map for each row."""
        lower, upper = (map.inverse(end[:, None])[:, 0] for end in (self.lower, self.upper))
        return replace(self, atoms=pull(self.atoms, map), lower=lower, upper=upper)

    def _describe(self) -> str:
        return repr(self.atoms)


@dataclass(frozen=True, eq=False, repr=False)
class Unrealised(Forwarding, ByRow):
    """Random's q before it meets its rows: `for_rows` draws the uniforms. On its own it answers for U = 1/2."""

    atoms: Distribution
    lower: float = shared()
    upper: float = shared()
    total: float = shared()
    """What all scores count, in the unit in which a calibration row counts 1."""
    unit: float | None = shared()
    """The likelihood ratio, as it was given, that counts as 1; None where rows have no ratios."""

    def for_rows(self, context: Context) -> Distribution:
        """One uniform for each row, and its ratio."""
        if self.unit is None:
            refuse_unused(context)
        like, ones = self.atoms.like, np.ones(context.rows)
        ratio = device_like(ones, like) if self.unit is None else ratios_of(context, like, self.unit)
        uniform = generator(context.rng).random(context.rows)
        lower, upper, uniform = (device_like(each, like) for each in (self.lower * ones, self.upper * ones, uniform))
        return Randomised(self.atoms, lower, upper, uniform, ratio, self.total)

    @property
    def _other(self) -> Distribution:
        """The row of U = 1/2 and ratio 1."""
        lower, upper, half, one = (device_like(each, self.atoms.like) for each in (self.lower, self.upper, 0.5, 1.0))
        return Randomised(self.atoms, lower, upper, half, one, self.total)

    def pulled(self, map: Increasing, pull: Pull) -> Distribution:
        """No H: there is one for each row, once the rows are known."""
        raise no_rows_yet("Random's q")

    def _clip(self, lower: Any, upper: Any) -> Distribution:
        low, high = (min(max(end, lower), upper) for end in (self.lower, self.upper))
        return replace(self, atoms=self.atoms._clip(lower, upper), lower=low, upper=high)

    def _describe(self) -> str:
        return repr(self.atoms)
