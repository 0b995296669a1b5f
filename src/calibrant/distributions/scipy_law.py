"""Forecasts that come as frozen distributions of scipy.stats.

Families that are ours too become ours: exact and fast. The rest are wrapped.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calibrant._arrays import Array
from calibrant._special import levels_around, sigmoid
from calibrant.distributions.base import Distribution
from calibrant.distributions.laplace import Laplace
from calibrant.distributions.log_normal import LogNormal
from calibrant.distributions.logistic import Logistic
from calibrant.distributions.logits import logit_of
from calibrant.distributions.normal import Normal
from calibrant.distributions.numeric import Numeric
from calibrant.distributions.scipy_counts import counts_from_scipy
from calibrant.distributions.scipy_family import ScipyFamily, parameters_of
from calibrant.distributions.solved import Solved
from calibrant.distributions.student_t import StudentT
from calibrant.forecast import SupportsCDF

_BETWEEN = 2  # even steps from one of these quantiles to the next


def from_scipy(frozen: SupportsCDF) -> Distribution:
    """A frozen distribution of scipy.stats, with parameters of shape () or (n,), as a law of ours.

    norm, laplace, logistic, t, cauchy and lognorm (with loc = 0) become our own laws, other continuous ones
    `ScipyDistribution`s. poisson, nbinom and binom (with loc = 0) become our own too, other laws of whole numbers
    `ScipyCounts`.

    >>> import scipy.stats
    >>> from_scipy(scipy.stats.norm([0.0, 1.0], 2.0))
    LocationScale(n=2, base=StandardNormal())
    >>> from_scipy(scipy.stats.gamma([2.0, 3.0])).crps([1.0, 5.0])
    array([0.45727665, 1.4061353 ])
    """
    if hasattr(getattr(frozen, "dist", None), "pmf"):
        return counts_from_scipy(frozen)
    law = ScipyDistribution.of(frozen)
    ours = _SCIPY.get(law.family.name)
    return law if ours is None else ours(*law.parameters) or law


_SCIPY: dict[str, Callable[..., Distribution | None]] = {
    "norm": Normal,
    "laplace": Laplace,
    "logistic": Logistic,
    "t": StudentT,
    "cauchy": lambda loc, scale: StudentT(1.0, loc, scale),
    "lognorm": lambda s, loc, scale: None if np.any(loc != 0) else LogNormal(np.log(scale), s),
}


@dataclass(frozen=True, eq=False, repr=False)
class ScipyDistribution(ScipyFamily, Solved, Numeric):
    """A continuous family of scipy.stats, with one value of each parameter a row: shapes, loc and scale.

    cdf, sf, logcdf, logsf, ppf, mean and std are scipy's own; the crps is by quadrature (relative error about
    1e-8 where the density is smooth inside its support), inf where the mean is not finite.
    """

    family: Any = field(metadata={"shared": True})
    parameters: tuple[Array, ...]

    @classmethod
    def of(cls, frozen: Any) -> ScipyDistribution:
        """The parameters of a frozen distribution, checked and brought to one shape."""
        if not all(hasattr(frozen, name) for name in ("dist", "args", "kwds")):
            kind = type(frozen).__name__
            raise TypeError(f"from_scipy takes a frozen distribution such as scipy.stats.gamma(2.0), got {kind}")
        return cls(frozen.dist, parameters_of(frozen, "loc", "scale"))

    def _cdf(self, y: Array) -> Array:
        return self._quietly("cdf", y)

    def _sf(self, y: Array) -> Array:
        return self._quietly("sf", y)

    def _logcdf(self, y: Array) -> Array:
        return self._logarithm("logcdf", y, self._cdf, self._sf)

    def _logsf(self, y: Array) -> Array:
        return self._logarithm("logsf", y, self._sf, self._cdf)

    def _logarithm(self, name: str, y: Array, mass: Callable[[Array], Array], rest: Callable[[Array], Array]) -> Array:
        """The family's own formula; scipy's general one searches for a median at every y."""
        general = next(kind for kind in type(self.family).__mro__ if kind.__name__ == "rv_continuous")
        if getattr(type(self.family), f"_{name}") is not getattr(general, f"_{name}"):
            return self._quietly(name, y)
        p, q = mass(y), rest(y)
        with np.errstate(divide="ignore"):
            return np.where(p < 0.5, np.log(p), np.log1p(-q))

    def _logit(self, y: Array) -> Array:
        return logit_of(self._cdf(y), self._sf(y), lambda: Distribution._logit(self, y))

    def _logit_and_log_slope(self, y: Array) -> tuple[Array, Array]:
        """From F, 1 - F and f; from their logarithms where these are too small for floats."""
        F, S, log_density = self._cdf(y), self._sf(y), self._logpdf(y)
        tiny = 1e3 * np.finfo(np.float64).smallest_normal
        far = (tiny > F) | (tiny > S)
        F, S = np.where(far, 0.5, F), np.where(far, 0.5, S)
        value, log_slope = np.log(F) - np.log(S), log_density - np.log(F) - np.log(S)
        if np.any(far):
            slow = Distribution._logit_and_log_slope(self, y)
            return np.where(far, slow[0], value), np.where(far, slow[1], log_slope)
        return value, log_slope

    def _logpdf(self, y: Array) -> Array:
        return self._quietly("logpdf", y)

    def _ppf(self, p: Array) -> Array:
        return self._quietly("ppf", p)

    def _ppf_logit(self, s: Array) -> Array:
        """The quantile from the nearer end, so that neither tail saturates; an end of the support where scipy fails."""
        tail = sigmoid(-np.abs(s))
        y: Array = np.empty(np.broadcast_shapes(np.shape(s), self._lift(self.parameters[0]).shape))
        low = np.broadcast_to(s <= 0, y.shape)
        if self.shape and np.shape(s)[0] == 1:  # the same levels for all rows: each is asked for from its own end only
            y[:, low[0]], y[:, ~low[0]] = self._quietly("ppf", tail[:, low[0]]), self._quietly("isf", tail[:, ~low[0]])
        else:
            y = np.where(low, self._quietly("ppf", tail), self._quietly("isf", tail))
        lower, upper = self._columns.support()
        y = np.where(np.isnan(y), np.where(s <= 0, lower, upper), y)
        return np.where(np.isfinite(s), np.clip(y, -1e300, 1e300), y)

    def _quantiles_logit(self, s: Array) -> Array:
        """Few are scipy's own, which take long; many are interpolated between some of these."""
        few = not self.shape or s.shape[-1] <= 4 * levels_around(s).size
        return self._ppf_logit(s) if few else super()._quantiles_logit(s)

    def _places(self, s: Array) -> Array:
        """Quantiles of scipy's own, and even steps from one to the next."""
        few = self._ppf_logit(levels_around(s)[None, :])
        share = np.arange(_BETWEEN) / _BETWEEN
        grid = few[:, :-1, None] + (few[:, 1:] - few[:, :-1])[..., None] * share
        return np.concatenate([grid.reshape((len(few), -1)), few[:, -1:]], axis=1)

    def _mean(self) -> Array:
        return self._statistic("mean")

    def _std(self) -> Array:
        return self._statistic("std")

    def _statistic(self, name: str) -> Array:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(getattr(self.family(*self.parameters), name)(), dtype=float)

    def _describe(self) -> str:
        return str(self.family.name)
