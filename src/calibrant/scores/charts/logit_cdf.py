"""The CDF of a forecast as a map: carried as its logit, or, beside maps of another kind, as it is."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, fields

from calibrant._arrays import Array, anywhere, clip, concatenate, device_like, namespace
from calibrant._roots import inverse_by_table
from calibrant.distributions.base import Distribution
from calibrant.distributions.location_scale import LocationScale
from calibrant.scores.charts.base import Chart

_SIDES = -14.0, -9.0, -6.0, -4.0, -2.0, 2.0, 4.0, 6.0, 9.0, 14.0  # logits
_EVERY = 6  # of the scores, those whose quantiles bracket the others


class _OfLaw(Chart):
    """A map by the CDF of each distribution of `law`."""

    law: Distribution

    @property
    def shape(self) -> tuple[int, ...]:
        return self.law.shape

    @property
    def like(self) -> Array:
        return self.law.like


@dataclass(frozen=True, eq=False)
class LogitCDF(_OfLaw):
    """s = logit F(y): the cdf score, which as a logit never saturates. In a sum it stands for weight * F(y)."""

    law: Distribution
    weight: float = field(default=1.0, metadata={"shared": True})

    @property
    def standard(self) -> tuple[Array, Array, Hashable, Chart] | None:
        """logit F of the base of a location-scale distribution, if all rows share it."""
        law = self.law
        if not isinstance(law, LocationScale) or law.base.shape or not law.shape:
            return None
        return law.loc, law.scale, _key(law.base), LogitCDF(law.base)

    def __call__(self, y: Array) -> Array:
        """From F and 1 - F themselves, where both have all their digits."""
        F, S = self.law._cdf(y), self.law._sf(y)
        xp, tiny = namespace(F), 1e3 * float(namespace(F).finfo(F.dtype).smallest_normal)
        if anywhere((tiny > F) | (tiny > S)):
            return self.law._logit(y)[0]
        return xp.log(F) - xp.log(S)

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        return self.law._logit(y)

    def log_slope(self, y: Array) -> Array:
        """log f - log F - log(1 - F)."""
        return self.law._logit(y)[1]

    def inverse(self, s: Array) -> Array:
        """The quantile at sigmoid(s)."""
        return self.law._ppf_logit(s)

    def inverse_with_width(self, s: Array) -> tuple[Array, Array]:
        if not self.shape:
            return super().inverse_with_width(s)
        few = concatenate([s[:, :-1:_EVERY], s[:, -1:]], axis=1)
        return inverse_by_table(self.law._logit, s, self.law._places(few))

    @property
    def bends(self) -> Array | None:
        """Of a forecast with several modes, the logits on either side of each."""
        places = self.law._places(device_like([_SIDES], self.like)) if self.shape else None
        return None if places is None or places.shape[1] == len(_SIDES) else self.law._logit(places)[0]


def _key(base: Distribution) -> Hashable:
    """By its kind and its numbers, where these are few; else by itself."""
    numbers = [getattr(base, part.name) for part in fields(base)]  # type: ignore[arg-type]
    if all(getattr(number, "ndim", None) == 0 for number in numbers):
        return type(base), tuple(map(float, numbers))
    return id(base)


@dataclass(frozen=True, eq=False)
class CDF(_OfLaw):
    """s = F(y) itself: how the cdf score enters a sum with scores of another kind."""

    law: Distribution

    def __call__(self, y: Array) -> Array:
        return self.law._cdf(y)

    def inverse(self, s: Array) -> Array:
        """The quantile; the ends of the distribution for what no probability is."""
        return self.law._ppf(clip(s, 0.0, 1.0))

    def log_slope(self, y: Array) -> Array:
        return self.law._logpdf(y)

    @property
    def range(self) -> tuple[float, float]:
        return 0.0, 1.0
