"""H = loc + scale * S with S ~ base: a whole batch of laws in one shared law and two arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arguments import same_length
from calibrant._arrays import Array, anywhere, complain, floats, namespace, positive, wider
from calibrant.distributions.base import Distribution
from calibrant.distributions.integrals import PartialMoments, Squares, image
from calibrant.distributions.on_gpu import one_pass
from calibrant.distributions.outline import Outline, within_floats


@dataclass(frozen=True, eq=False, repr=False)
class LocationScale(Distribution):
    """Row i is the law of loc[i] + scale[i] * S, S ~ base.

    `base` is a single law shared by all rows, or a batch with one law a row. Every method is the base's, moved and
    stretched, and as exact as the base's.
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

    def _cdf_sides(self, y: Array) -> tuple[Array, Array]:
        return self.base._cdf_sides(self._z(y))

    def _logcdf(self, y: Array) -> Array:
        return self.base._logcdf(self._z(y))

    def _logsf(self, y: Array) -> Array:
        return self.base._logsf(self._z(y))

    def _ppf(self, p: Array) -> Array:
        return self._y(self.base._ppf(p))

    def _quantiles(self, p: Array) -> Array:
        """From the shared law's, looked up once for all rows."""
        return super()._quantiles(p) if self.base.shape or not self.shape else self._y(self.base._ppf(p[None, :]))

    def _ppf_logit(self, s: Array) -> Array:
        return self._y(self.base._ppf_logit(s))

    def _quantiles_logit(self, s: Array) -> Array:
        return self._y(self.base._quantiles_logit(s))

    def _logpdf(self, y: Array) -> Array:
        done = one_pass("logpdf", self.base, self.loc, self.scale, y)
        if done is not None:
            return done
        return self.base._logpdf(self._z(y)) - namespace(self.scale).log(self._lift(self.scale))

    def _mean(self) -> Array:
        return self.loc + self.scale * self.base._mean()

    def _std(self) -> Array:
        return self.scale * self.base._std()

    def _crps(self, y: Array) -> Array:
        done = one_pass("crps", self.base, self.loc, self.scale, y)
        return self._lift(self.scale) * self.base._crps(self._z(y)) if done is None else done

    def _logit(self, y: Array) -> Array:
        return self.base._logit(self._z(y))

    def _logit_and_log_slope(self, y: Array) -> tuple[Array, Array]:
        value, log_slope = self.base._logit_and_log_slope(self._z(y))
        return value, log_slope - namespace(self.scale).log(self._lift(self.scale))

    def _partial_moments(self, y: Array) -> PartialMoments:
        lower, lower2, upper, upper2 = self.base._partial_moments(self._z(y))
        scale = self._lift(self.scale)
        with np.errstate(over="ignore"):
            return PartialMoments(scale * lower, scale**2 * lower2, scale * upper, scale**2 * upper2)

    def _squares(self, y: Array) -> Squares:
        lower, upper = self.base._squares(self._z(y))
        return Squares(self._lift(self.scale) * lower, self._lift(self.scale) * upper)

    def _infinite_mass(self) -> tuple[Any, Any]:
        return self.base._infinite_mass()

    def _breaks(self) -> Array:
        return self._y(self.base._breaks())

    @property
    def is_discrete(self) -> bool:
        return self.base.is_discrete

    def _moments_within(self, y: Array, lower: Array, upper: Array) -> PartialMoments:
        within = self.base._moments_within(self._z(y), image(self._z, lower), image(self._z, upper))
        scale = self._lift(self.scale)
        with np.errstate(over="ignore"):
            powers = (scale, scale**2, scale, scale**2)
            return PartialMoments(*(power * part for power, part in zip(powers, within, strict=True)))

    def _squares_within(self, y: Array, lower: Array, upper: Array) -> Squares:
        within = self.base._squares_within(self._z(y), image(self._z, lower), image(self._z, upper))
        return Squares(*(self._lift(self.scale) * part for part in within))

    def _outline(self) -> Outline | None:
        outline = self.base._outline()
        if outline is None:
            return None
        loc, scale = self._lift(self.loc), self._lift(self.scale)
        with np.errstate(over="ignore"):
            y = within_floats(loc + scale * outline.y)
        return outline._replace(y=y, bend=outline.bend / scale**2)

    def _describe(self) -> str:
        return f"base={self.base!r}"


def located(name: str, loc: Any, scale: Any, base: Distribution, *, strict: bool) -> LocationScale:
    """The door for a location-scale forecast: finite locs, positive scales, one of each a row, or a single law."""
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
