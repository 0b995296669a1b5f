"""H = q pulled back through an increasing map: H(y) = q(map(y))."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arrays import Array, anywhere, detached, device_like, namespace
from calibrant.distributions.base import Distribution, drawn_in
from calibrant.distributions.table import MassTable


@dataclass(frozen=True, eq=False, repr=False)
class Pulled(Distribution):
    """H(y) = q(map(y)), one increasing map for each row or a single one: a `calibrant.scores.transforms.Transform`.

    Its table is that of q with the places moved: masses stay, and the slope of the map gives the bulges.
    """

    map: Any
    q: Distribution

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.map.shape) or self.q.shape

    def _cdf(self, y: Array) -> Array:
        return self.q._cdf(self.map(y))

    def _sf(self, y: Array) -> Array:
        return self.q._sf(self.map(y))

    def _cdf_left(self, y: Array) -> Array:
        return self.q._cdf_left(self.map.left(y))

    def _ppf(self, p: Array) -> Array:
        return self._wide(self.map.inverse(self.q._ppf(p)))

    def _ppf_logit(self, s: Array) -> Array:
        return self._wide(self.map.inverse(self.q._ppf_logit(s)))

    def _wide(self, y: Array) -> Array:
        """A row for each row, also where the map gives all of them one."""
        return namespace(y).broadcast_to(y, (*self.shape, y.shape[-1])) if self.shape else y

    def _logpdf(self, y: Array) -> Array:
        s, slope = self.map.with_slope(y)
        xp, outside = namespace(s), namespace(s).isinf(s)  # beyond the support of the forecast there is no density
        slope = xp.where(outside, 0.0, slope)
        density = self.q._logpdf(xp.where(outside, 0.0, s))
        return xp.where(outside, -xp.inf, density + slope)

    def _table(self, count: int) -> MassTable:
        table = self._q_table(count)
        with np.errstate(all="ignore"):
            places, widths = self._in_double.map.inverse_with_width(table.places)
            return table.moved(drawn_in(places), widths)

    def _q_table(self, count: int) -> MassTable:
        """That of q, with the bends of the map among its places."""
        distribution = self._in_double
        table, map = distribution.q._shared_table(count), distribution.map
        if map.like is not None:
            table = table.to(map.like)
        bends = map.bends
        if bends is None:
            return table
        return table.with_places(distribution.q, detached(bends if bends.ndim == 2 else bends[None, :]))


def landed(H: Pulled) -> Distribution:
    """Mass of q at -inf or +inf lies where the map has such a value, if that is a finite place."""
    q, map = H.q, H.map
    far = device_like([[-np.inf, np.inf]] if H.shape else [-np.inf, np.inf], q.like if map.like is None else map.like)
    F, F_left = (detached(part) for part in (q._cdf(far), q._cdf_left(far)))
    lost = anywhere(F[..., 0] > 0), anywhere(F_left[..., 1] < 1)
    if not any(lost):
        return H
    xp, ends = namespace(far), detached(map.inverse(far))
    low, high = (xp.broadcast_to(ends[..., side], H.shape) for side in (0, 1))
    low = low if lost[0] else xp.full_like(low, -np.inf)
    high = high if lost[1] else xp.full_like(high, np.inf)
    if not anywhere(xp.isfinite(low) | xp.isfinite(high)):
        return H
    return H._clip(low, high) if H.shape else H._clip(float(low), float(high))


Pull = Callable[[Distribution, Any], Distribution]
"""What pulls a distribution back through a map."""


class ByRow(Distribution):
    """One made of another, shared one and of some numbers for each row: what is pulled back is the shared one."""

    @abstractmethod
    def pulled(self, map: Any, pull: Pull) -> Distribution:
        """H: this, with what it is made of pulled back by `pull` through a map for each row."""


def no_rows_yet(name: str) -> TypeError:
    """What is wrong with pulling back a q that has not met its rows."""
    return TypeError(f"{name} has no distribution before it meets its rows: pull back q.for_rows(context) in its place")
