"""Any law that sits on a lattice, as one of the laws there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from calibrant._arrays import Array
from calibrant._batch import shared
from calibrant.distributions.base import Distribution, handed_in
from calibrant.distributions.discrete import Discrete


@dataclass(frozen=True, eq=False, repr=False)
class OnLattice(Discrete):
    """What a law says at the points of its lattice: a mixture of laws of counts, rows of different ones."""

    law: Distribution
    points: tuple[float, float] = shared()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.law.shape

    @property
    def like(self) -> Array:
        return self.law.like

    @property
    def origin(self) -> float:
        return self.points[0]

    @property
    def step(self) -> float:
        return self.points[1]

    def _ends(self) -> tuple[Any, Any]:
        return -math.inf, math.inf

    def _below(self, k: Array) -> Array:
        return self.law._cdf(self._place(k))

    def _above(self, k: Array) -> Array:
        return self.law._sf(self._place(k))

    def _log_below(self, k: Array) -> Array:
        return self.law._logcdf(self._place(k))

    def _log_above(self, k: Array) -> Array:
        return self.law._logsf(self._place(k))

    def _log_mass(self, k: Array) -> Array:
        return self.law._logpmf(self._place(k))

    def _mean(self) -> Array:
        return self.law._mean()

    def _std(self) -> Array:
        return self.law._std()

    def _describe(self) -> str:
        return repr(self.law)


def on_lattice(law: Distribution) -> Discrete:
    """The law itself, or what it says on its lattice."""
    if isinstance(law, Discrete):
        return law
    if law.lattice is None:
        raise TypeError(f"a law on a lattice is needed, got {law!r}")
    return OnLattice(law, law.lattice)


handed_in["on lattice"] = on_lattice
