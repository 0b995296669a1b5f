"""The CDF of a forecast as a map: carried as its logit, or, beside maps of another kind, as it is."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from calibrant._arrays import Array, device_like
from calibrant.distributions.base import Distribution
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.logits import OwnCDF, OwnLogit
from calibrant.scores.charts.base import Chart


@dataclass(frozen=True, eq=False)
class LogitCDF(OwnLogit, Chart):
    """s = logit F(y): the cdf score, which as a logit never saturates. In a sum it stands for weight * F(y)."""

    law: Distribution
    weight: float = field(default=1.0, metadata={"shared": True})

    @property
    def standard(self) -> tuple[Array, Array, Hashable, Chart] | None:
        """logit F of the base of a location-scale law, if all rows share it."""
        law = self.law
        if not isinstance(law, LocationScale) or law.base.shape:
            return None
        key = law.base if law.base.like is None else id(law.base)  # a law without parameters is known by its kind
        return law.loc, law.scale, key, LogitCDF(law.base)


@dataclass(frozen=True, eq=False)
class CDF(OwnCDF, Chart):
    """s = F(y) itself: how the cdf score enters a sum with scores of another kind."""

    law: Distribution

    def places(self, s: Array) -> Array:
        return OwnLogit(self.law).places(device_like([[-20.0, 20.0]], s))

    @property
    def range(self) -> tuple[float, float]:
        return 0.0, 1.0
