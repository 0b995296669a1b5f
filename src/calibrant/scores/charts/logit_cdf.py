"""The CDF of a forecast as a map: carried as its logit, or, beside maps of another kind, as it is."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, fields

from calibrant._arrays import Array
from calibrant.distributions.base import Distribution
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.own_logit import OwnCDF, OwnLogit
from calibrant.scores.charts.base import Chart


@dataclass(frozen=True, eq=False)
class LogitCDF(OwnLogit, Chart):
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


def _key(base: Distribution) -> Hashable:
    """By its kind and its numbers, where these are few; else by itself."""
    numbers = [getattr(base, part.name) for part in fields(base)]  # type: ignore[arg-type]
    if all(getattr(number, "ndim", None) == 0 for number in numbers):
        return type(base), tuple(map(float, numbers))
    return id(base)


@dataclass(frozen=True, eq=False)
class CDF(OwnCDF, Chart):
    """s = F(y) itself: how the cdf score enters a sum with scores of another kind."""

    law: Distribution

    @property
    def range(self) -> tuple[float, float]:
        return 0.0, 1.0
