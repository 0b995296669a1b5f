"""Random interpolation: atoms at the scores, and one uniform number per row for the mass that belongs to no score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from calibrant._arguments import generator
from calibrant._arrays import Array, clip, detached, device_like, namespace
from calibrant._batch import shared
from calibrant._special import safe_sqrt
from calibrant.distributions.base import Context, Distribution, Moments, refuse_unused
from calibrant.distributions.bent import ratios_of
from calibrant.distributions.clipped import within
from calibrant.distributions.piecewise_linear import PiecewiseLinear
from calibrant.distributions.pulled import ByRow, Pull, no_rows_yet
from calibrant.distributions.table import ONCE, MassTable


@dataclass(frozen=True, eq=False, repr=False)
class Randomised(ByRow):
    """(sum of w_i over s_i < u + U (w(x) + sum of w_i over s_i = u)) / (N + w(x)), one uniform U per row.

    N is the sum of all w_i, and `atoms` have masses in proportion to them. Without weights all are 1. A row is the
    mixture of `atoms` with weight N / (N + w), of the point `lower` with weight U w / (N + w) and of the point `upper`
    with the rest. Its CDF at an atom is random too, which keeps it exactly calibrated under ties; not so at the ends,
    where all mass counts that sits there, such as what was clipped. The ends are -+inf by default: then the mean is
    nan, std and crps are inf. All else is as exact as `atoms`.

    Before it meets its rows, in `for_rows`, it answers for U = 1/2 and w = 1.
    """

    atoms: Distribution
    lower: Any
    upper: Any
    total: float = shared()
    """N, what all scores count, in the unit in which a calibration row counts 1."""
    unit: float | None = shared()
    """The likelihood ratio, as it was given, that counts as 1; None where rows have no ratios."""
    uniform = cast(Any, 0.5)
    ratio = cast(Any, 1.0)

    def __post_init__(self) -> None:
        """lower <= upper, and two knots for each atom."""
        if not self.lower <= self.upper:  # they meet where both were clipped to one bound
            raise ValueError(f"lower must not be above upper, got {self.lower} and {self.upper}")
        if isinstance(self.atoms, PiecewiseLinear) and self.atoms.knots.shape[0] % 2:
            raise ValueError(f"atoms have two knots each, got {self.atoms.knots.shape[0]} in all")

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(getattr(self.uniform, "shape", ()))

    def for_rows(self, context: Context) -> Distribution:
        """One uniform for each row, and its ratio."""
        if self.unit is None:
            refuse_unused(context)
        like, ones = self.atoms.like, np.ones(context.rows)
        ratio = device_like(ones, like) if self.unit is None else ratios_of(context, like, self.unit)
        columns = self.lower * ones, self.upper * ones, generator(context.rng).random(context.rows)
        lower, upper, uniform = (device_like(each, like) for each in columns)
        return RandomisedRows(self.atoms, lower, upper, self.total, self.unit, uniform, ratio)

    def _parts(self) -> tuple[Array, ...]:
        """The shares of the atoms and of the two ends, and the ends: as columns, or of a single one as 0-d arrays."""
        size = self.total + self.ratio
        own, other = self.uniform * self.ratio / size, (1 - self.uniform) * self.ratio / size
        parts = self.total / size, own, other, self.lower, self.upper
        return tuple(self._lift(part) if self.shape else device_like(part, self.like) for part in parts)

    def _cdf(self, y: Array) -> Array:
        xp, (core, low, _, lower, upper) = namespace(y), self._parts()
        left = self.atoms._cdf_left(y)
        jump = self.atoms._cdf(y) - left
        F = low + core * (left + xp.where(y <= lower, jump, self._lift(self.uniform) * jump))
        return within(y, F, lower, upper)

    def _cdf_left(self, y: Array) -> Array:
        core, low, _, *ends = self._parts()
        return within(y, low + core * self.atoms._cdf_left(y), *ends, left=True)

    def _ppf(self, p: Array) -> Array:
        xp, (core, low, _, lower, upper) = namespace(p), self._parts()
        level = (p - low) / core
        y = self.atoms._ppf(clip(level, 0.0, 1.0))
        return xp.where(level <= 0, lower, xp.where(level > 1, upper, y))

    def _logpdf(self, y: Array) -> Array:
        return namespace(y).full_like(y + self._parts()[0], -np.inf)

    def _pit(self, y: Array, u: Array) -> Array:
        """The CDF, which is drawn already."""
        del u
        return self._cdf(y)

    def _moments(self) -> Moments:
        """Of the mixture: F = low + core A between the ends, so that E |Y - Y'| / 2 is a sum of four integrals."""
        core, low, high, *ends = self._parts()
        xp, atoms = namespace(core), self.atoms._all_moments
        own, std, shift = (self.atoms._lift(part) for part in atoms)
        lower, upper = (xp.where(xp.isinf(end), 0.0, end) for end in ends)
        mean = core * own + low * lower + high * upper
        square = core * (std**2 + (own - mean) ** 2) + low * (lower - mean) ** 2 + high * (upper - mean) ** 2
        cross = core * (low * (own - lower) + high * (upper - own)) + low * high * (upper - lower)
        crps = mean - core**2 * (own - shift) - cross
        inf, below, above = xp.full_like(mean, np.inf), xp.isinf(ends[0]) & (low > 0), xp.isinf(ends[1]) & (high > 0)
        far = xp.where(below, xp.where(above, np.nan * inf, -inf), inf)
        found = (xp.where(below | above, *pair) for pair in ((far, mean), (inf, safe_sqrt(square)), (inf, crps)))
        return Moments(*(part[:, 0] if self.shape else part for part in found))

    def _integrals(self, y: Array, which: int) -> Array:
        """Of low + core A between the ends; what lies below an infinite lower end has no integral and is left out."""
        if which != ONCE:
            return super()._integrals(y, which)
        xp, (core, low, _, lower, upper) = namespace(y), self._parts()
        inside = xp.minimum(xp.maximum(y, lower), upper)
        way = inside - xp.where(xp.isinf(lower), 0.0, lower)
        return low * way + core * self.atoms._integrals(inside, ONCE) + clip(y - inside, 0.0, np.inf)

    def _table(self, count: int) -> MassTable:
        """That of the atoms, with atoms at the ends."""
        distribution = self._in_double
        core, low, high, lower, upper = (namespace(part).reshape(part, (-1, 1)) for part in distribution._parts())
        return distribution.atoms._table(count).to(core).with_ends(core, (low, high), (lower, upper))

    def _clip(self, lower: Any, upper: Any) -> Distribution:
        low, high = (
            clip(end, lower, upper) if self.shape else min(max(end, lower), upper) for end in (self.lower, self.upper)
        )
        return replace(self, atoms=self.atoms._clip(lower, upper), lower=low, upper=high)

    def pulled(self, map: Any, pull: Pull) -> Distribution:
        """H: the ends and, by `pull`, the atoms pulled back through a map for each row."""
        if not self.shape:
            raise no_rows_yet("Random's q")
        lower, upper = (_pulled_end(end, map) for end in (self.lower, self.upper))
        return replace(self, atoms=pull(self.atoms, map), lower=lower, upper=upper)


@dataclass(frozen=True, eq=False, repr=False)
class RandomisedRows(Randomised):
    """The same of rows, with a uniform and a ratio for each."""

    uniform: Any = 0.5
    ratio: Any = 1.0

    def __post_init__(self) -> None:
        """One of each per row."""
        shapes = [tuple(part.shape) for part in (self.lower, self.upper, self.uniform, self.ratio)]
        if len(set(shapes)) > 1:
            raise ValueError(f"lower, upper, uniform and ratio of the shapes {shapes} do not go together")


def _pulled_end(end: Array, map: Any) -> Array:
    """Where the ends of the rows land; those at infinity without gradients, which would be 0 times infinity."""
    xp, finite = namespace(end), namespace(end).isfinite(end)
    y = map.inverse(xp.where(finite, end, 0.0)[:, None])[:, 0]
    return xp.where(finite, y, detached(map.inverse(end[:, None])[:, 0]))
