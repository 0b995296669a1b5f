"""Laws of whole numbers that come as frozen distributions of scipy.stats."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calibrant._arrays import Array, complain, floats
from calibrant._kept import kept
from calibrant.distributions.base import Distribution
from calibrant.distributions.binomial import Binomial
from calibrant.distributions.discrete import Discrete
from calibrant.distributions.negative_binomial import NegativeBinomial
from calibrant.distributions.poisson import Poisson


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
class ScipyCounts(Discrete):
    """A discrete family of scipy.stats, with one value of each parameter a row: shapes, and loc, which is whole."""

    _reach = 27.0  # 2e-12 of the mass: some families have 1 - F by subtraction
    family: Any = field(metadata={"shared": True})
    parameters: tuple[Array, ...]

    @classmethod
    def of(cls, frozen: Any) -> ScipyCounts:
        """The parameters of a frozen distribution, checked and brought to one shape."""
        family = frozen.dist
        shapes, loc, _ = family._parse_args(*frozen.args, **frozen.kwds)
        names = [*(family.shapes or "").replace(",", " ").split(), "loc"]
        given = zip(names, (*shapes, loc), strict=True)
        arrays = [floats(f"{family.name}.{name}", np.asarray(value, dtype=float)) for name, value in given]
        arrays = list(np.broadcast_arrays(*arrays))
        if arrays[0].ndim > 1:
            raise ValueError(f"{family.name} must have parameters of shape () or (n,), got {arrays[0].shape}")
        for problem, wrong in (
            ("has a loc that is not whole", arrays[-1] != np.round(arrays[-1])),
            ("has parameters outside their domain", np.isnan(family(*arrays).support()[0])),
        ):
            if np.any(wrong):
                complain(family.name, np.asarray(wrong), problem)
        return cls(family, tuple(arrays))

    @property
    def shape(self) -> tuple[int, ...]:
        """That of every parameter."""
        return tuple(self.parameters[0].shape)

    @kept
    def _columns(self) -> Any:
        return self.family(*(self._lift(parameter) for parameter in self.parameters))

    def _quietly(self, name: str, k: Array) -> Array:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scipy's far tails overflow on their way to the right answer
            return np.asarray(getattr(self._columns, name)(k))

    def _below(self, k: Array) -> Array:
        return self._quietly("cdf", k)

    def _above(self, k: Array) -> Array:
        return self._quietly("sf", k)

    def _log_mass(self, k: Array) -> Array:
        return self._quietly("logpmf", k)

    def _ends(self) -> tuple[Array, Array]:
        first, last = self.family(*self.parameters).support()
        return np.asarray(first, float) + np.zeros(self.shape), np.asarray(last, float) + np.zeros(self.shape)

    def _mean(self) -> Array:
        return np.asarray(self.family(*self.parameters).mean(), float)

    def _std(self) -> Array:
        return np.asarray(self.family(*self.parameters).std(), float)

    def _describe(self) -> str:
        return str(self.family.name)
