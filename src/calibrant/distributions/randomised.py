"""Random interpolation: atoms at the scores, and one uniform number a row for the mass that belongs to no score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibrant._arrays import Array, clip, device_like, generator, namespace
from calibrant._batch import shared
from calibrant.distributions.base import Distribution

if TYPE_CHECKING:
    from calibrant.scores.charts import Chart


@dataclass(frozen=True, eq=False, repr=False)
class Randomised(Distribution):
    """(#{s_i < u} + U (1 + #{s_i = u})) / (n + 1), one uniform U a row: n equal atoms and two ends.

    A row is the mixture of `atoms` (n equal atoms) with weight n/(n + 1), of the point `lower` with weight
    U/(n + 1) and of the point `upper` with weight (1 - U)/(n + 1). Its CDF at an atom is random too, which keeps it
    exactly calibrated under ties. The ends are -+inf by default: then mean is nan, std and crps are inf. All else is
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
        U = self._lift(self.uniform)
        below, equal = self._ranks(y)
        F = (below + U * (1 + equal)) / (self.count + 1)
        F = xp.where(y < self._lift(self.lower), xp.zeros_like(F), F)
        return xp.where(y >= self._lift(self.upper), xp.ones_like(F), F)

    def _cdf_left(self, y: Array) -> Array:
        xp = namespace(y)
        F = (self._ranks(y)[0] + self._lift(self.uniform)) / (self.count + 1)
        F = xp.where(y <= self._lift(self.lower), xp.zeros_like(F), F)
        return xp.where(y > self._lift(self.upper), xp.ones_like(F), F)

    def _ranks(self, y: Array) -> tuple[Array, Array]:
        """#{s_i < u} and #{s_i = u}."""
        xp = namespace(y)
        below = xp.round(self.count * self.atoms._cdf_left(y))
        return below, xp.round(self.count * self.atoms._cdf(y)) - below

    def _ppf(self, p: Array) -> Array:
        xp = namespace(p)
        rank = xp.ceil(p * (self.count + 1) - self._lift(self.uniform))
        y = self.atoms._ppf(clip((rank - 0.5) / self.count, 0.0, 1.0))
        y = xp.where(rank <= 0, self._lift(self.lower), y)
        return xp.where(rank > self.count, self._lift(self.upper), y)

    def _logpdf(self, y: Array) -> Array:
        xp = namespace(y)
        return xp.full_like(y + self._lift(self.uniform), -xp.inf)

    def _weights(self) -> tuple[float, Array, Array]:
        n = self.count
        return n / (n + 1), self.uniform / (n + 1), (1 - self.uniform) / (n + 1)

    def _mean(self) -> Array:
        below, above = self._infinite_mass()
        if below or above:
            value = np.nan if below and above else np.inf if above else -np.inf
            return namespace(self.uniform).full_like(self.uniform, value)
        core, low, high = self._weights()
        return core * self.atoms._mean() + low * self.lower + high * self.upper

    def _std(self) -> Array:
        xp = namespace(self.uniform)
        if any(self._infinite_mass()):
            return xp.full_like(self.uniform, xp.inf)
        core, low, high = self._weights()
        centre, mean = self._mean(), self.atoms._mean()
        square = core * (self.atoms._std() ** 2 + (mean - centre) ** 2)
        square = square + low * (self.lower - centre) ** 2 + high * (self.upper - centre) ** 2
        return xp.sqrt(square)

    def _crps(self, y: Array) -> Array:
        """E|Y - y| - E|Y - Y'| / 2 of the mixture, from the same two expectations of the atoms."""
        xp = namespace(y)
        if any(self._infinite_mass()):
            return xp.full_like(y + self._lift(self.uniform), xp.inf)
        core, low, high = self._weights()
        low, high = self._lift(low), self._lift(high)
        lower, upper = self._lift(self.lower), self._lift(self.upper)
        mean = self._lift(self.atoms._mean()) if self.atoms.shape else self.atoms._mean()
        first = self.atoms._ppf(device_like(np.zeros((1, 1)), self.uniform))
        spread = mean - first - self.atoms._crps(first)  # E|S - S'| / 2, since all atoms lie above the first
        distance = self.atoms._crps(y) + spread
        near = core * distance + low * xp.abs(lower - y) + high * xp.abs(upper - y)
        cross = core * low * (mean - lower) + core * high * (upper - mean) + low * high * (upper - lower)
        return near - core**2 * spread - cross

    def _infinite_mass(self) -> tuple[float, float]:
        xp = namespace(self.uniform)
        share = 0.5 / (self.count + 1)
        ends = (bool(xp.any(xp.isinf(end))) for end in (self.lower, self.upper))
        below, above = (share if infinite else 0.0 for infinite in ends)
        return below, above

    def _pulled(self, chart: Chart) -> Distribution:
        lower, upper = (chart.inverse(self._lift(end))[:, 0] for end in (self.lower, self.upper))
        return Randomised(chart.pull_back(self.atoms), lower, upper, self.uniform, self.count)

    def _clipped(self, lower: float, upper: float) -> Distribution:
        low, high = (clip(end, lower, upper) for end in (self.lower, self.upper))
        return Randomised(self.atoms.clip(lower, upper), low, high, self.uniform, self.count)

    def _describe(self) -> str:
        return f"{self.count} scores, ends={'infinite' if any(self._infinite_mass()) else 'bounded'}"


@dataclass(frozen=True, eq=False, repr=False)
class Unrealised(Distribution):
    """Random's q before it meets its rows: `realise` draws the uniforms. On its own it answers for U = 1/2."""

    atoms: Distribution
    lower: float = shared()
    upper: float = shared()
    count: int = shared()

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def realise(self, n: int, rng: np.random.Generator | None) -> Distribution:
        """One uniform for each of n rows."""
        like = self.atoms._like
        lower, upper = (device_like(np.full(n, end), like) for end in (self.lower, self.upper))
        return Randomised(self.atoms, lower, upper, device_like(generator(rng).random(n), like), self.count)

    @property
    def _half(self) -> Distribution:
        like = self.atoms._like
        lower, upper = (device_like([end], like) for end in (self.lower, self.upper))
        return Randomised(self.atoms, lower, upper, device_like([0.5], like), self.count)[0]

    def _cdf(self, y: Array) -> Array:
        return self._half._cdf(y)

    def _ppf(self, p: Array) -> Array:
        return self._half._ppf(p)

    def _logpdf(self, y: Array) -> Array:
        return self._half._logpdf(y)

    def _mean(self) -> Array:
        return self._half._mean()

    def _std(self) -> Array:
        return self._half._std()

    def _crps(self, y: Array) -> Array:
        return self._half._crps(y)

    def _clipped(self, lower: float, upper: float) -> Distribution:
        low, high = (min(max(end, lower), upper) for end in (self.lower, self.upper))
        return Unrealised(self.atoms.clip(lower, upper), low, high, self.count)

    def _describe(self) -> str:
        return f"{self.count} scores"
