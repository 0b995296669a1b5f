"""Random interpolation: atoms at the scores, and one uniform number a row for the mass that belongs to no score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from calibrant._arguments import generator
from calibrant._arrays import Array, clip, concatenate, device_like, namespace
from calibrant._batch import shared
from calibrant.distributions.base import Distribution
from calibrant.distributions.by_row import ByRow, Pull, no_rows_yet
from calibrant.distributions.context import Context
from calibrant.distributions.integrals import arm
from calibrant.distributions.maps import Increasing
from calibrant.distributions.single import OnlyRow


@dataclass(frozen=True, eq=False, repr=False)
class Randomised(ByRow):
    """(#{s_i < u} + U (1 + #{s_i = u})) / (n + 1), one uniform U a row: n equal atoms and two ends.

    A row is the mixture of `atoms` (n equal atoms) with weight n/(n + 1), of the point `lower` with weight
    U/(n + 1) and of the point `upper` with weight (1 - U)/(n + 1). Its CDF at an atom is random too, which keeps it
    exactly calibrated under ties; not so at the ends, where all mass counts that sits there, such as what was clipped.
    The ends are -+inf by default: then mean is nan, std and crps are inf. All else is
    as exact as `atoms`.
    """

    atoms: Distribution
    lower: Array
    upper: Array
    uniform: Array
    count: int = shared()

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.uniform.shape)

    def _cdf(self, y: Array) -> Array:
        xp = namespace(y)
        U, lower = self._lift(self.uniform), self._lift(self.lower)
        below, equal = self._ranks(y)
        own = self._own()
        F = (below + xp.where(y <= lower, U * own + equal, U * (own + equal))) / self._size()
        F = xp.where(y < lower, xp.zeros_like(F), F)
        return xp.where(y >= self._lift(self.upper), xp.ones_like(F), F)

    def _cdf_left(self, y: Array) -> Array:
        xp = namespace(y)
        F = (self._ranks(y)[0] + self._lift(self.uniform) * self._own()) / self._size()
        F = xp.where(y <= self._lift(self.lower), xp.zeros_like(F), F)
        return xp.where(y > self._lift(self.upper), xp.ones_like(F), F)

    def _ranks(self, y: Array) -> tuple[Array, Array]:
        """#{s_i < u} and #{s_i = u}."""
        xp = namespace(y)
        left, right = self.atoms._cdf_sides(y)
        below = xp.round(self.count * left)
        return below, xp.round(self.count * right) - below

    def _own(self) -> Any:
        """What the new row counts, beside the scores."""
        return 1

    def _size(self) -> Any:
        """What all of them count."""
        return self.count + 1

    def _ppf(self, p: Array) -> Array:
        xp = namespace(p)
        rank = xp.ceil(p * (self.count + 1) - self._lift(self.uniform))
        y = self.atoms._ppf(clip((rank - 0.5) / self.count, 0.0, 1.0))
        y = xp.where(rank <= 0, self._lift(self.lower), y)
        return xp.where(rank > self.count, self._lift(self.upper), y)

    def _logpdf(self, y: Array) -> Array:
        xp = namespace(y)
        return xp.full_like(y + self._lift(self.uniform), -xp.inf)

    def _weights(self) -> tuple[Array, Array, Array]:
        """Of the atoms and of the two ends, in each row."""
        n = self.count
        return n / (n + 1) + 0 * self.uniform, self.uniform / (n + 1), (1 - self.uniform) / (n + 1)

    def _mean(self) -> Array:
        """-inf, +inf or nan in a row that has mass there."""
        core, low, high = self._weights()
        with np.errstate(invalid="ignore"):  # -inf + inf is nan
            return core * self.atoms._mean() + arm(low, self.lower) + arm(high, self.upper)

    def _std(self) -> Array:
        xp = namespace(self.uniform)
        core, low, high = self._weights()
        finite, lower, upper = self._finite()
        mean, std = self.atoms._mean_and_std()
        finite = finite & xp.isfinite(mean) & xp.isfinite(std)
        mean, std = (xp.where(finite, part, xp.zeros_like(part)) for part in (mean, std))
        centre = core * mean + low * lower + high * upper
        lengths = std, mean - centre, lower - centre, upper - centre
        unit = reduce(xp.maximum, (xp.abs(length) for length in lengths))  # so that no square overflows
        unit = xp.where(unit > 0, unit, xp.ones_like(unit))
        squares = ((length / unit) ** 2 for length in lengths)
        square = sum(weight * part for weight, part in zip((core, core, low, high), squares, strict=True))
        return xp.where(finite, unit * xp.sqrt(square), xp.full_like(square, xp.inf))

    def _finite(self) -> tuple[Array, Array, Array]:
        """Which rows have no mass at infinite ends, and the ends, 0 where they are infinite."""
        xp, (_, low, high) = namespace(self.uniform), self._weights()
        lower, upper = (xp.where(xp.isfinite(end), end, xp.zeros_like(end)) for end in (self.lower, self.upper))
        finite = (xp.isfinite(self.lower) | (low == 0)) & (xp.isfinite(self.upper) | (high == 0))
        return finite, lower, upper

    def _crps(self, y: Array) -> Array:
        """E|Y - y| - E|Y - Y'| / 2 of the mixture, from the same two expectations of the atoms."""
        xp = namespace(y)
        core, low, high = (self._lift(each) for each in self._weights())
        finite, lower, upper = (self._lift(each) for each in self._finite())
        rows = max(y.shape[0], *self.atoms.shape, 1)
        first, last = (self.atoms._ppf(device_like([[end]], self.uniform)) for end in (0.0, 1.0))
        ends = xp.broadcast_to(concatenate([first, last], axis=1), (rows, 2))
        asked = self.atoms._crps(concatenate([ends, xp.broadcast_to(y, (rows, y.shape[1]))], axis=1))
        # of the first atom the score is the integral of (1 - F)^2, of the last one that of F^2: they differ by the mean
        mean = (first + last + asked[:, :1] - asked[:, 1:2]) / 2
        spread = mean - first - asked[:, :1]  # E|S - S'| / 2, since all atoms lie above the first
        distance = asked[:, 2:] + spread
        near = core * distance + low * xp.abs(lower - y) + high * xp.abs(upper - y)
        cross = core * low * (mean - lower) + core * high * (upper - mean) + low * high * (upper - lower)
        crps = near - core**2 * spread - cross
        return xp.where(finite, crps, xp.full_like(crps, xp.inf))

    def _infinite_mass(self) -> tuple[Any, Any]:
        xp = namespace(self.uniform)
        _, low, high = self._weights()
        below, above = (
            xp.where(xp.isinf(end), mass, xp.zeros_like(mass)) for end, mass in ((self.lower, low), (self.upper, high))
        )
        return below, above

    def _clipped(self, lower: Any, upper: Any) -> Distribution:
        low, high = (clip(end, lower, upper) for end in (self.lower, self.upper))
        return replace(self, atoms=self.atoms.clip(lower, upper), lower=low, upper=high)

    def pulled(self, map: Increasing, pull: Pull) -> Distribution:
        """H: the ends and, by `pull`, the atoms pulled back through a map for each row."""
        lower, upper = (map.inverse(end[:, None])[:, 0] for end in (self.lower, self.upper))
        return replace(self, atoms=pull(self.atoms, map), lower=lower, upper=upper)

    def _describe(self) -> str:
        ends = "bounded" if bool(namespace(self.uniform).all(self._finite()[0])) else "infinite"
        return f"{self.count} scores, ends={ends}"


@dataclass(frozen=True, eq=False, repr=False)
class Unrealised(OnlyRow, ByRow):
    """Random's q before it meets its rows: `for_rows` draws the uniforms. On its own it answers for U = 1/2."""

    atoms: Distribution
    lower: float = shared()
    upper: float = shared()
    count: int = shared()

    def for_rows(self, context: Context) -> Distribution:
        """One uniform for each row."""
        super().for_rows(context)
        like = self.atoms.like
        lower, upper = (device_like(np.full(context.rows, end), like) for end in (self.lower, self.upper))
        uniform = device_like(generator(context.rng).random(context.rows), like)
        return Randomised(self.atoms, lower, upper, uniform, self.count)

    def pulled(self, map: Increasing, pull: Pull) -> Distribution:
        """No H: there is one law for each row, once the rows are known."""
        raise no_rows_yet("Random's q")

    @property
    def _row(self) -> Distribution:
        """The row of U = 1/2."""
        like = self.atoms.like
        lower, upper = (device_like([end], like) for end in (self.lower, self.upper))
        return Randomised(self.atoms, lower, upper, device_like([0.5], like), self.count)

    def _clipped(self, lower: Any, upper: Any) -> Distribution:
        low, high = (min(max(end, lower), upper) for end in (self.lower, self.upper))
        return replace(self, atoms=self.atoms.clip(lower, upper), lower=low, upper=high)

    def _describe(self) -> str:
        return f"{self.count} scores"
