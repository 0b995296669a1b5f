"""H = loc + scale * S with S ~ base: a whole batch in one shared distribution and two arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arguments import same_length
from calibrant._arrays import Array, anywhere, complain, floats, namespace, positive, wider
from calibrant.distributions.base import CLOSED, Distribution, Moments
from calibrant.distributions.gpu import one_pass
from calibrant.distributions.table import TWICE, MassTable


@dataclass(frozen=True, eq=False, repr=False)
class LocationScale(Distribution):
    """Row i is the distribution of loc[i] + scale[i] * S, S ~ base.

    `base` is a single distribution shared by all rows, or a batch with one for each. Every method is the base's, moved
    and stretched, and as exact as the base's.
    """

    loc: Array
    scale: Array
    base: Distribution

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.loc.shape)

    @property
    def like(self) -> Array:
        return self.loc

    @property
    def _block(self) -> int:
        return self.base._block if self.base.shape else CLOSED

    def _z(self, y: Array) -> Array:
        return (y - self._lift(self.loc)) / self._lift(self.scale)

    def _y(self, z: Array) -> Array:
        with np.errstate(over="ignore"):  # what is too large for floats is infinite
            return self._moved(z)

    def _moved(self, z: Array) -> Array:
        if self.shape and z.shape[0] == 1:  # the same z for all rows: column by column, as memory lies
            if getattr(self.scale, "strides", None) == (0,):  # numpy's way to store one scale for all rows
                return (self.loc + self.scale[:1] * z.T).T
            columns = self.scale * z.T
            columns += self.loc
            return columns.T
        return self._lift(self.loc) + self._lift(self.scale) * z

    def _cdf(self, y: Array) -> Array:
        done = one_pass("cdf", self.base, self.loc, self.scale, y)
        return self.base._cdf(self._z(y)) if done is None else done

    def _sf(self, y: Array) -> Array:
        return self.base._sf(self._z(y))

    def _cdf_left(self, y: Array) -> Array:
        return self.base._cdf_left(self._z(y))

    def _ppf(self, p: Array) -> Array:
        return self._y(self.base._ppf(p))

    def _ppf_logit(self, s: Array) -> Array:
        return self._y(self.base._ppf_logit(s))

    def _logpdf(self, y: Array) -> Array:
        done = one_pass("logpdf", self.base, self.loc, self.scale, y)
        if done is not None:
            return done
        return self.base._logpdf(self._z(y)) - namespace(self.scale).log(self._lift(self.scale))

    def _logit(self, y: Array) -> tuple[Array, Array]:
        value, log_slope = self.base._logit(self._z(y))
        return value, log_slope - namespace(self.scale).log(self._lift(self.scale))

    def _crps(self, y: Array) -> Array:
        done = one_pass("crps", self.base, self.loc, self.scale, y)
        return self._lift(self.scale) * self.base._crps(self._z(y)) if done is None else done

    def _moments(self) -> Moments:
        mean, std, shift = self.base.remember("_kept_moments", self.base._moments)
        return Moments(self.loc + self.scale * mean, self.scale * std, self.loc + self.scale * shift)

    def _integrals(self, y: Array, which: int) -> Array:
        scale = self._lift(self.scale)
        with np.errstate(over="ignore"):
            return (scale**2 if which == TWICE else scale) * self.base._integrals(self._z(y), which)

    def _table(self, count: int) -> MassTable:
        law = self._in_double
        loc, scale = (part[:, None] if self.shape else part[None, None] for part in (law.loc, law.scale))
        return law.base._table(count).to(law.loc).scaled(loc, scale)

    def _pit(self, y: Array, u: Array) -> Array:
        return self.base._pit(self._z(y), u)

    def _describe(self) -> str:
        return f"base={self.base!r}"


def located(name: str, loc: Any, scale: Any, base: Distribution, *, strict: bool) -> LocationScale:
    """A location-scale forecast, checked: finite locs, positive scales, one of each per row, or one in all."""
    loc = floats(f"{name}.loc", loc)
    wide = wider(loc, scale)
    loc = loc if wide is loc else floats(f"{name}.loc", loc, like=wide)
    scale = floats(f"{name}.scale", scale, like=loc)
    xp = namespace(loc)
    if loc.ndim > 1 or scale.ndim > 1:
        raise ValueError(
            f"{name} takes one loc and one scale a row, got shapes {tuple(loc.shape)}, {tuple(scale.shape)}"
        )
    if loc.ndim and scale.ndim:
        same_length(f"{name}.loc", loc.shape[0], f"{name}.scale", scale.shape[0])
    if anywhere(scale < 0):
        complain(f"{name}.scale", scale < 0, "is negative")
    scale = positive(f"{name}.scale", scale, loc, strict=strict)
    loc, scale = xp.broadcast_arrays(loc, scale)
    return LocationScale(loc, scale, base)
