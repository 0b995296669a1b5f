"""Forecasts that come as frozen distributions of scipy.stats.

Families that are ours too become ours: exact and fast. The rest are wrapped.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calibrant._arrays import Array, concatenate, device_like, namespace
from calibrant._special import sigmoid
from calibrant.distributions.base import Distribution, Moments, drawn_in
from calibrant.distributions.laplace import Laplace
from calibrant.distributions.log_normal import LogNormal
from calibrant.distributions.logistic import Logistic
from calibrant.distributions.normal import Normal
from calibrant.distributions.scipy_counts import counts_from_scipy
from calibrant.distributions.scipy_family import ScipyFamily, parameters_of
from calibrant.distributions.student_t import StudentT
from calibrant.forecast import SupportsCDF

ASKED = 64  # quantiles that take long, with many more places of a table between them


def from_scipy(frozen: SupportsCDF) -> Distribution:
    """A frozen distribution of scipy.stats, with parameters of shape () or (n,), as one of ours.

    norm, laplace, logistic, t, cauchy and lognorm (with loc = 0) become our own, other continuous ones
    `ScipyDistribution`s. poisson, nbinom and binom (with loc = 0) become our own too, other distributions of whole
    numbers `ScipyCounts`.

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
class ScipyDistribution(ScipyFamily):
    """A continuous family of scipy.stats, with one value of each parameter per row: shapes, loc and scale.

    cdf, sf, logpdf, ppf, mean and std are scipy's own; the crps is from a table, and inf where the mean is not finite.
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

    def _logpdf(self, y: Array) -> Array:
        return self._quietly("logpdf", y)

    def _logit(self, y: Array) -> tuple[Array, Array]:
        """From scipy's logarithms where F or 1 - F is too small for floats."""
        value, log_slope = super()._logit(y)
        far = np.isinf(value) & np.isfinite(y)
        if not far.any():
            return value, log_slope
        below, above, density = (self._quietly(name, y) for name in ("logcdf", "logsf", "logpdf"))
        far &= np.isfinite(below) & np.isfinite(above)
        below, above = np.where(far, below, 0.0), np.where(far, above, 0.0)
        return np.where(far, below - above, value), np.where(far, density - below - above, log_slope)

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

    def _places(self, s: Array) -> Array:
        """Some quantiles, and even steps from one to the next."""
        step = max(1, s.shape[1] // ASKED)
        return evenly_between(drawn_in(np.sort(self._ppf_logit(s[:, ::step]), axis=1)), step)

    def mean(self) -> Array:
        """scipy's own."""
        return self._statistic("mean")

    def std(self) -> Array:
        """scipy's own."""
        return self._statistic("std")

    def _statistic(self, name: str) -> Array:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(getattr(self.family(*self.parameters), name)(), dtype=float)

    def _moments(self) -> Moments:
        mean = self.mean()
        return Moments(mean, self.std(), np.where(np.isfinite(mean), super()._moments().shift, np.inf))

    def _describe(self) -> str:
        return str(self.family.name)


def evenly_between(places: Array, count: int) -> Array:
    """Columns of places, with so many even steps from one to the next."""
    xp = namespace(places)
    share = device_like(np.arange(count) / count, places)
    steps = places[:, :-1, None] + (places[:, 1:] - places[:, :-1])[..., None] * share
    return concatenate([xp.reshape(steps, (places.shape[0], -1)), places[:, -1:]], axis=1)
