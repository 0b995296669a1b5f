"""A map in a unit of its own for each row: where numbers are so large, or so small, that squares are no floats."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._arrays import Array, clip, namespace
from calibrant.distributions.maps import Increasing

_PLAIN = 1e60
"""Numbers between 1 / _PLAIN and _PLAIN need no unit of their own."""


@dataclass(frozen=True, eq=False)
class InUnits:
    """t -> map(unit * t), for each row; a unit is a power of two, so that no digit changes."""

    map: Increasing
    unit: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the map."""
        return self.map.shape

    @property
    def like(self) -> Array:
        """One of its arrays."""
        return self.map.like

    @property
    def solved(self) -> bool:
        """As the map itself."""
        return self.map.solved

    @property
    def steep(self) -> bool:
        """As the map itself."""
        return self.map.steep

    def __call__(self, t: Array) -> Array:
        """The s of unit * t."""
        return self.map(t * self.unit[:, None])

    def inverse(self, s: Array) -> Array:
        """The t whose s this is."""
        return self.map.inverse(s) / self.unit[:, None]

    def inverse_at(self, s: Array) -> Array:
        """The same for many s that all rows share."""
        return self.map.inverse_at(s) / self.unit[:, None]

    def log_slope(self, t: Array) -> Array:
        """The log derivative of s in t."""
        return self.map.log_slope(t * self.unit[:, None]) + namespace(t).log(self.unit)[:, None]

    def with_slope(self, t: Array) -> tuple[Array, Array]:
        """Both at once."""
        s, slope = self.map.with_slope(t * self.unit[:, None])
        return s, slope + namespace(t).log(self.unit)[:, None]

    def breaks(self) -> Array | None:
        """None: there is a map for each row."""
        return None

    def places(self, s: Array) -> Array:
        """Those of the map."""
        return self.map.places(s) / self.unit[:, None]

    def widest(self, s: Array) -> Array:
        """A length of scores, which have no unit here."""
        return self.map.widest(s)


def unit_of_rows(map: Increasing, s: Array) -> Array | None:
    """A power of two near the size of each row's y at the scores s, (1, k); None where all are plain numbers."""
    xp = namespace(s)
    y = xp.abs(map.inverse(s))
    size = xp.max(xp.where(xp.isfinite(y), y, xp.zeros_like(y)), axis=-1)
    odd = ((size > _PLAIN) | (size < 1 / _PLAIN)) & (size > 0)
    if not bool(xp.any(odd)):
        return None
    exponent = xp.round(xp.log2(xp.where(odd, size, xp.ones_like(size))))
    return 2.0 ** clip(exponent, -1000.0, 1000.0)
