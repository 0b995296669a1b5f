"""The law of a row of which nothing is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arrays import Array, namespace
from calibrant.distributions.base import Distribution
from calibrant.distributions.integrals import PartialMoments, Squares


@dataclass(frozen=True, eq=False, repr=False)
class Unknown(Distribution):
    """Every answer is NaN."""

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def _cdf(self, y: Array) -> Array:
        return _nan(y)

    def _sf(self, y: Array) -> Array:
        return _nan(y)

    def _cdf_left(self, y: Array) -> Array:
        return _nan(y)

    def _logcdf(self, y: Array) -> Array:
        return _nan(y)

    def _logsf(self, y: Array) -> Array:
        return _nan(y)

    def _logpdf(self, y: Array) -> Array:
        return _nan(y)

    def _crps(self, y: Array) -> Array:
        return _nan(y)

    def _ppf(self, p: Array) -> Array:
        return _nan(p)

    def _ppf_logit(self, s: Array) -> Array:
        return _nan(s)

    def _quantiles(self, p: Array) -> Array:
        return _nan(p)

    def _mean(self) -> Any:
        return np.nan

    def _std(self) -> Any:
        return np.nan

    def _partial_moments(self, y: Array) -> PartialMoments:
        return PartialMoments(*(_nan(y) for _ in range(4)))

    def _squares(self, y: Array) -> Squares:
        return Squares(_nan(y), _nan(y))

    def _moments_within(self, y: Array, lower: Array, upper: Array) -> PartialMoments:
        return self._partial_moments(y)

    def _squares_within(self, y: Array, lower: Array, upper: Array) -> Squares:
        return self._squares(y)

    def _clipped(self, lower: Any, upper: Any) -> Distribution:
        del lower, upper
        return self


def _nan(like: Array) -> Array:
    return namespace(like).full_like(like, np.nan)
