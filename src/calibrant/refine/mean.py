"""The mean of several refinements, quantile by quantile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from calibrant._arrays import to_numpy
from calibrant.distributions.base import Distribution
from calibrant.predictions import Quantiles
from calibrant.refine.base import Refinement, Refiner
from calibrant.refine.cascade import Cascade
from calibrant.refine.forest import LEVELS
from calibrant.refine.quantiles import ResidualQuantiles
from calibrant.refine.rows import TrainingRows


@dataclass(frozen=True)
class Average(Refiner):
    """The mean of the quantiles of several refiners at 25 levels: their errors partly cancel."""

    members: Sequence[Refiner] = (Cascade(), ResidualQuantiles())

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", tuple(self.members))
        if not self.members or not all(isinstance(member, Refiner) for member in self.members):
            raise TypeError(f"Average.members must be refiners, at least one, got {self.members!r}")

    def fit(self, rows: TrainingRows) -> AverageRefinement:
        """Each member by itself."""
        return AverageRefinement(tuple(member.fit(rows) for member in self.members))


@dataclass(frozen=True)
class AverageRefinement:
    """(X, prediction) -> Quantiles."""

    members: tuple[Refinement, ...]

    def __call__(self, X: Any, prediction: Any) -> Quantiles:
        """The mean of the members' quantiles."""
        each = [_at_levels(member(X, prediction)) for member in self.members]
        return Quantiles(LEVELS, np.sort(sum(each[1:], each[0]) / len(each), axis=1))


def _at_levels(prediction: Any) -> Any:
    """The quantiles at `LEVELS`; those of a `Quantiles` lie on straight lines in the normal score."""
    if isinstance(prediction, Distribution):
        return to_numpy(prediction.quantiles(LEVELS))
    if not isinstance(prediction, Quantiles):
        raise TypeError(f"an average is of distributions and quantiles, got {prediction!r}")
    values = to_numpy(prediction.values)
    if prediction.quantile_levels() == LEVELS:
        return values
    if values.shape[1] == 1:
        raise TypeError(f"an average needs quantiles at two levels or more, got {prediction!r}")
    own, asked = ndtri(to_numpy(prediction.levels)), ndtri(np.asarray(LEVELS))
    left = np.clip(np.searchsorted(own, asked, side="right") - 1, 0, len(own) - 2)
    share = (asked - own[left]) / (own[left + 1] - own[left])
    return values[:, left] * (1 - share) + values[:, left + 1] * share
