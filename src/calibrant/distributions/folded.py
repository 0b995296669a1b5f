"""The law of signed scores, seen from one of its two sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arrays import Array, concatenate, device_like, namespace
from calibrant.distributions.base import Distribution
from calibrant.distributions.pulled import PulledOne

# not through 1, where the median score lies: two points an ulp apart have none between them
_GRID = np.concatenate([np.linspace(0, 2.97, 25), np.geomspace(3.2, 1e12, 240)])
_GRID = np.concatenate([-_GRID[:0:-1], _GRID])


@dataclass(frozen=True, eq=False)
class Fold:
    """s = u + sqrt(u^2 + 1) for the upper side, so the line goes to (0, inf); s = u - sqrt(u^2 + 1) for the lower."""

    origin: Array
    """A zero, which tells namespace, dtype and device."""
    upper: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """A single map."""
        return ()

    @property
    def like(self) -> Array:
        """The zero."""
        return self.origin

    @property
    def solved(self) -> bool:
        """It has a formula."""
        return False

    @property
    def steep(self) -> bool:
        """It grows as a line does."""
        return False

    def __call__(self, u: Array) -> Array:
        """As 1 / (|u| + sqrt(u^2 + 1)) on the side where the sum cancels."""
        return self._folded(u, namespace(u).hypot(u, namespace(u).ones_like(u)))

    def _folded(self, u: Array, root: Array) -> Array:
        xp = namespace(u)
        size = xp.abs(u) + root
        return xp.where(u < 0, 1 / size, size) if self.upper else xp.where(u > 0, -1 / size, -size)

    def inverse(self, s: Array) -> Array:
        """(s - 1/s) / 2; scores of the other side lie at its far end."""
        xp = namespace(s)
        own = s > 0 if self.upper else s < 0
        safe = xp.where(own, s, xp.ones_like(s))
        u = xp.where(xp.isinf(safe), safe, (safe - 1) / 2 * (1 + 1 / safe))
        return xp.where(own, u, xp.full_like(u, -xp.inf if self.upper else xp.inf))

    def inverse_at(self, s: Array) -> Array:
        """The same."""
        return self.inverse(s)

    def log_slope(self, u: Array) -> Array:
        """ds/du = |s| / sqrt(u^2 + 1), and log |s| = +-asinh(u)."""
        xp = namespace(u)
        return (xp.asinh(u) if self.upper else -xp.asinh(u)) - xp.log(xp.hypot(u, xp.ones_like(u)))

    def with_slope(self, u: Array) -> tuple[Array, Array]:
        """The same root for both."""
        xp = namespace(u)
        root = xp.hypot(u, xp.ones_like(u))
        s = self._folded(u, root)
        return s, xp.log(xp.abs(s) / root)

    def breaks(self) -> Array:
        """Many, on the way to the far scores."""
        return _GRID

    def places(self, s: Array) -> Array:
        """The same, beside the scores."""
        return device_like(_GRID[None, :], s)

    def widest(self, s: Array) -> Array:
        """It is never asked: a single map has a table."""
        return namespace(s).full_like(s, namespace(s).inf)


@dataclass(frozen=True, eq=False, repr=False)
class Folded(PulledOne):
    """F(u) = q(u +- sqrt(u^2 + 1)); what q has on the other side of 0 sits at -inf, or at +inf."""

    map: Fold
    q: Distribution

    def _infinite_mass(self) -> tuple[Any, Any]:
        below, above = self.q._infinite_mass()
        zero = device_like(0.0, self.map.origin)
        return (float(self.q._cdf(zero)), above) if self.map.upper else (below, float(self.q._sf(zero)))

    def _breaks(self) -> Array:
        """The bends of q on its own side, and a grid as far as the labels may lie."""
        points = self.map.inverse(self.q._breaks())
        xp = namespace(points)
        points, grid = points[xp.isfinite(points)], device_like(_GRID, points)
        if points.shape[0]:  # beyond the outermost score there is nothing
            grid = grid[grid < xp.max(points)] if self.map.upper else grid[grid > xp.min(points)]
        return xp.sort(concatenate([points, grid]))
