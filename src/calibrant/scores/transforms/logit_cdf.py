"""The CDF of a forecast as a transform: its logit, or, in a sum with other scores, itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from calibrant._arrays import Array
from calibrant.distributions.base import Distribution
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.own_logit import OwnCDF, OwnLogit
from calibrant.scores.transforms.base import Transform


@dataclass(frozen=True, eq=False)
class LogitCDF(OwnLogit, Transform):
    """s = logit F(y): the cdf score, which as a logit never saturates. In a sum it stands for weight * F(y)."""

    law: Distribution
    weight: float = field(default=1.0, metadata={"shared": True})

    @property
    def standard(self) -> tuple[Array, Array, Transform] | None:
        """logit F of the base of a location-scale distribution, if all rows share it."""
        law = self.law
        if not isinstance(law, LocationScale) or law.base.shape or not law.shape:
            return None
        return law.loc, law.scale, LogitCDF(law.base)


@dataclass(frozen=True, eq=False)
class CDF(OwnCDF, Transform):
    """s = F(y) itself: how the cdf score enters a sum with scores of another kind."""

    law: Distribution

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        return self.law._cdf(y), self.law._logpdf(y)
