"""Distributions of whole numbers that come as frozen distributions of scipy.stats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calibrant._arrays import Array, refuse
from calibrant.distributions.base import Distribution
from calibrant.distributions.binomial import Binomial
from calibrant.distributions.negative_binomial import NegativeBinomial
from calibrant.distributions.on_lattice import OnLattice
from calibrant.distributions.poisson import Poisson
from calibrant.distributions.scipy_family import ScipyFamily, parameters_of


def counts_from_scipy(frozen: Any) -> Distribution:
    """A frozen discrete distribution of scipy.stats: Poisson, negative binomial and binomial as our own."""
    law = ScipyCounts.of(frozen)
    ours, loc = _OURS.get(law.family.name), law.parameters[-1]
    return law if ours is None or np.any(loc != 0) else ours(*law.parameters[:-1])


_OURS: dict[str, Callable[..., Distribution]] = {
    "poisson": Poisson,
    "nbinom": lambda n, p: NegativeBinomial(n * (1 - p) / p, 1 / n),
    "binom": Binomial,
}


@dataclass(frozen=True, eq=False, repr=False)
class ScipyCounts(ScipyFamily, OnLattice):
    """A discrete family of scipy.stats, with one value of each parameter a row: shapes, and loc, which is whole."""

    family: Any = field(metadata={"shared": True})
    parameters: tuple[Array, ...]

    @classmethod
    def of(cls, frozen: Any) -> ScipyCounts:
        """The parameters of a frozen distribution, checked and brought to one shape."""
        parameters = parameters_of(frozen, "loc")
        broken = parameters[-1] != np.round(parameters[-1])
        refuse(frozen.dist.name, np.asarray(broken), "has a loc that is not whole")
        law = cls(frozen.dist, parameters)
        refuse(frozen.dist.name, ~np.isfinite(law.std()), "has no standard deviation")
        return law

    def _below(self, k: Array) -> Array:
        return self._quietly("cdf", k)

    def _above(self, k: Array) -> Array:
        return self._quietly("sf", k)

    def _log_mass(self, k: Array) -> Array:
        return self._quietly("logpmf", k)

    def _ends(self) -> tuple[Any, Any]:
        first, last = self.family(*self.parameters).support()
        return np.asarray(first, float) + np.zeros(self.shape), np.asarray(last, float) + np.zeros(self.shape)

    def _mean_std(self) -> tuple[Array, Array]:
        frozen = self.family(*self.parameters)
        return np.asarray(frozen.mean(), float), np.asarray(frozen.std(), float)

    def _describe(self) -> str:
        return str(self.family.name)
