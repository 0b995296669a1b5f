"""H = q pulled back through a map that is no straight line: H(y) = q(map(y))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arrays import Array, clip, concatenate, device_like, namespace
from calibrant.distributions.base import Distribution
from calibrant.distributions.composed import Composed
from calibrant.distributions.integrals import PartialMoments, Squares, between, moments_beyond, squares_beyond
from calibrant.distributions.logistic import STANDARD_LOGISTIC
from calibrant.distributions.logits import OwnLogit
from calibrant.distributions.maps import Increasing
from calibrant.distributions.smooth_rows import SmoothRows
from calibrant.distributions.tabulated import ByTable
from calibrant.distributions.tails import beyond

_TAILS = np.concatenate([-np.arange(344.0, 35, -3), np.arange(36.0, 345, 3)])  # logits far out, where floats still tell


_WIDE, _PARTS = 1.0, 32  # scores of a steep map: how far apart at most, and into how many parts a gap is divided


@dataclass(frozen=True, eq=False, repr=False)
class Pulled(Composed):
    """H(y) = q(map(y)), one map a row; mean, std and crps by the rule of q, see `calibrant.distributions.rule`.

    The relative error is 1e-7 or so, in time that does not depend on n. Where the inverse of a row's map is not smooth,
    or has to be solved for, its own values are what is integrated: see `calibrant.distributions.rough_rows`. Where
    q has a law for every row too, H is integrated as a law known by its quantiles.
    """

    map: Increasing
    q: Distribution

    def _cdf(self, y: Array) -> Array:
        return self._landed(y, super()._cdf(y), 0.0)

    def _cdf_left(self, y: Array) -> Array:
        return self._landed_left(y, super()._cdf_left(y))

    def _cdf_sides(self, y: Array) -> tuple[Array, Array]:
        left, right = super()._cdf_sides(y)
        return self._landed_left(y, left), self._landed(y, right, 0.0)

    def _sf(self, y: Array) -> Array:
        return self._landed(y, super()._sf(y), 1.0)

    def _logcdf(self, y: Array) -> Array:
        return self._landed(y, super()._logcdf(y), -np.inf)

    def _logsf(self, y: Array) -> Array:
        return self._landed(y, super()._logsf(y), 0.0)

    def _landed(self, y: Array, value: Array, below: float) -> Array:
        """Of a map that takes a score of -inf to a finite place: the mass of q at -inf is there, and none below."""
        start, xp = self._start(), namespace(value)
        return value if start is None else xp.where(y < start, xp.full_like(value, below), value)

    def _landed_left(self, y: Array, share: Array) -> Array:
        """From the left, none is at that place either."""
        start, xp = self._start(), namespace(share)
        return share if start is None else xp.where(y <= start, xp.zeros_like(share), share)

    def _start(self) -> Array | None:
        """The place of a score of -inf in each row, (n, 1); None where q has no mass there."""
        mass = self.q._infinite_mass()[0]
        return None if isinstance(mass, float) and mass == 0 else self.map.inverse(device_like([[-np.inf]], self.like))

    @property
    def _rows(self) -> SmoothRows:
        return SmoothRows(OwnLogit(self), STANDARD_LOGISTIC) if self.q.shape else SmoothRows(self.map, self.q)

    def _partial_moments(self, y: Array) -> PartialMoments:
        return self._rows.partial_moments(y)

    def _squares(self, y: Array) -> Squares:
        return self._rows.squares(y)

    def _moments_within(self, y: Array, lower: Array, upper: Array) -> PartialMoments:
        inside, lower, under = self._from_start(y, lower)
        part = between(lambda a, b: self._rows.partial_moments(inside, a, b), inside, lower, upper)
        return part if under is None else moments_beyond(part, 0 * under, under, (0.0, 0.0))

    def _squares_within(self, y: Array, lower: Array, upper: Array) -> Squares:
        inside, lower, under = self._from_start(y, lower)
        part = between(lambda a, b: self._rows.squares(inside, a, b), inside, lower, upper)
        return part if under is None else squares_beyond(part, 0 * under, under, (0.0, 0.0))

    def _from_start(self, y: Array, lower: Array) -> tuple[Array, Array, Array | None]:
        """y and a bound, not below the place of a score of -inf, and by how much y was; see `_landed`."""
        start, xp = self._start(), namespace(y)
        if start is None or bool(xp.all(xp.isinf(start))):
            return y, lower, None
        inside = xp.maximum(y, start)
        return inside, xp.maximum(lower, start), inside - y

    def _infinite_mass(self) -> tuple[Any, Any]:
        """None where the map of a bounded label takes an infinite score to a finite one."""
        return _unlanded(self.map, self.q)


@dataclass(frozen=True, eq=False, repr=False)
class PulledOne(Composed, ByTable):
    """H(y) = q(map(y)) for a single map and a single q; mean, std, crps from a table (relative error about 1e-10)."""

    map: Increasing
    q: Distribution

    def _partial_moments(self, y: Array) -> PartialMoments:
        return ByTable._partial_moments(self, y)

    def _squares(self, y: Array) -> Squares:
        return ByTable._squares(self, y)

    def _infinite_mass(self) -> tuple[Any, Any]:
        below, above = _unlanded(self.map, self.q)
        return float(below), float(above)

    def _breaks(self) -> Array:
        xp = namespace(self.like)
        s = self.q._breaks()
        if self.map.steep:
            s = concatenate([s, beyond(s, self.q._ppf_logit(device_like(_TAILS, s)))])
            s = _closer(xp.sort(s[xp.isfinite(s)]))
        mine = self.map.inverse(s)
        own = self.map.breaks()
        points = mine if own is None else concatenate([mine, device_like(own, mine)])
        return xp.sort(points[xp.isfinite(points)])


def _closer(s: Array) -> Array:
    """With scores between any two that are far apart: where the inverse is steep, a wide gap is many powers of ten."""
    xp, gap = namespace(s), s[1:] - s[:-1]
    parts = clip(xp.ceil(gap / _WIDE), 1, _PARTS)
    inner = [(s[:-1] + gap * (k / parts))[parts > k] for k in range(1, _PARTS)]
    return concatenate([s, *inner])


def _unlanded(map: Increasing, q: Distribution) -> tuple[Any, Any]:
    masses = []
    for mass, end in zip(q._infinite_mass(), (-np.inf, np.inf), strict=True):
        if isinstance(mass, float) and mass == 0:
            masses.append(mass)
            continue
        s = device_like(end, q.like if map.like is None else map.like)
        far = map.inverse(s[None, None] if map.shape else s)
        xp = namespace(far)
        lost = xp.astype(~xp.isfinite(far), far.dtype)
        masses.append((lost[:, 0] if map.shape else lost) * mass)
    return masses[0], masses[1]
