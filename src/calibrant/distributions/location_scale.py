"""H = loc + scale * S with S ~ base: a whole batch in one shared distribution and two arrays."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from calibrant._arrays import Array, namespace
from calibrant.distributions.base import ByLogit, Distribution, Moments
from calibrant.distributions.parameters import parameters, widths
from calibrant.distributions.table import ONCE, TWICE, MassTable

_TRITON = find_spec("triton") is not None


@dataclass(frozen=True, eq=False, repr=False)
class LocationScale(Distribution):
    """Row i is the distribution of loc[i] + scale[i] * S, S ~ base.

    `base` is a single distribution shared by all rows, or a batch with one for each. Every method is the base's,
    shifted and scaled, and as exact as the base's.
    """

    loc: Array
    scale: Array
    base: Distribution

    def __post_init__(self) -> None:
        """loc and scale have one number per row."""
        loc, scale, base = self.loc, self.scale, self.base
        if loc.shape != scale.shape or loc.dtype != scale.dtype or base.shape not in ((), loc.shape):
            raise ValueError(f"loc {loc.shape}, scale {scale.shape} and base {base.shape} do not go together")

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.loc.shape)

    @property
    def like(self) -> Array:
        return self.loc

    def _family(self) -> str:
        return self.base._family()

    def _z(self, y: Array) -> Array:
        return (y - self._lift(self.loc)) / self._lift(self.scale)

    def _y(self, z: Array) -> Array:
        with np.errstate(over="ignore"):  # what is too large for floats is infinite
            if not self.shape or z.shape[0] > 1:
                return self._lift(self.loc) + self._lift(self.scale) * z
            # one z for all rows: (k, n) and transposed, so that each column is contiguous
            if getattr(self.scale, "strides", None) == (0,):  # numpy's way to store one scale for all rows
                return (self.loc + self.scale[:1] * z.T).T
            columns = self.scale * z.T
            columns += self.loc
            return columns.T

    def _in_blocks(self, name: str, *arguments: Any) -> Any:
        """On a CUDA GPU with one fused kernel, if there is one for this method; else block by block."""
        found = None
        if arguments and getattr(arguments[0], "is_cuda", False) and _TRITON:
            from calibrant.distributions.gpu import one_pass  # which needs Triton

            found = one_pass(name, self.base, self.loc, self.scale, arguments[0])
        return super()._in_blocks(name, *arguments) if found is None else found

    def _cdf(self, y: Array) -> Array:
        return self.base._cdf(self._z(y))

    def _sf(self, y: Array) -> Array:
        return self.base._sf(self._z(y))

    def _cdf_left(self, y: Array) -> Array:
        return self.base._cdf_left(self._z(y))

    def _ppf(self, p: Array) -> Array:
        return self._y(self.base._ppf(p))

    def _ppf_logit(self, s: Array) -> Array:
        return self._y(self.base._ppf_logit(s))

    def _logpdf(self, y: Array) -> Array:
        return self.base._logpdf(self._z(y)) - self._log_scale

    def _logit(self, y: Array) -> tuple[Array, Array]:
        value, log_slope = self.base._logit(self._z(y))
        return value, log_slope - self._log_scale

    @property
    def _log_scale(self) -> Array:
        return namespace(self.scale).log(self._lift(self.scale))

    def _crps(self, y: Array) -> Array:
        return self._lift(self.scale) * self.base._crps(self._z(y))

    def _moments(self) -> Moments:
        mean, std, shift = self.base._all_moments
        return Moments(self.loc + self.scale * mean, self.scale * std, self.loc + self.scale * shift)

    def _integrals(self, y: Array, which: int) -> Array:
        scale = self._lift(self.scale)
        with np.errstate(over="ignore"):
            return (scale**2 if which == TWICE else scale) * self.base._integrals(self._z(y), which)

    def _table(self, count: int) -> MassTable:
        distribution = self._in_double
        loc, scale = (
            part[:, None] if self.shape else part[None, None] for part in (distribution.loc, distribution.scale)
        )
        return distribution.base._shared_table(count).to(distribution.loc).scaled(loc, scale)


class Standard(ByLogit):
    """A single distribution that is symmetric about 0, as the base of a location-scale family."""

    @abstractmethod
    def _area(self, z: Array) -> Array:
        """The integral of F up to z."""

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def _sf(self, z: Array) -> Array:
        return self._cdf(-z)

    def _integrals(self, z: Array, which: int) -> Array:
        return self._area(z) if which == ONCE else super()._integrals(z, which)


def located(name: str, loc: Any, scale: Any, base: Distribution) -> LocationScale:
    """A location-scale forecast, after checks: finite locs, positive scales, one of each per row or for all rows."""
    loc, scale = parameters(name, loc=loc, scale=scale)
    return LocationScale(loc, widths(f"{name}.scale", scale, loc), base)
