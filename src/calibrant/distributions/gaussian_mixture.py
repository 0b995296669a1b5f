"""The mixture of normal distributions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import array_api_compat
import numpy as np

from calibrant._arguments import same_length
from calibrant._arrays import Array, anywhere, detached, floats, namespace, refuse, single_precision
from calibrant._roots import solve_increasing
from calibrant._special import log_ndtr, logit, ndtr, ndtri_logit, safe_log
from calibrant._types import ArrayLike
from calibrant.distributions.base import Distribution, Moments
from calibrant.distributions.normal import StandardNormal
from calibrant.distributions.table import ONCE, SQUARE

_AT_ONCE = 2**17  # terms of a sum
_FEWEST = 33  # places of a component in a table
Terms = Callable[[Array, Array, Array], Array]


@dataclass(frozen=True, eq=False, repr=False)
class GaussianMixture(Distribution):
    """F(y) = sum of weights[i, k] Phi((y - means[i, k]) / stds[i, k]): K normal distributions in each row.

    Arrays are (n, K); what all rows share may be (K,), and three arrays (K,) make a single distribution. Weights sum
    to 1 up to 1e-6, and are then made exact. Mean, std and crps are closed; quantiles are searched for between those of
    the components.

    >>> forecast = GaussianMixture([0.3, 0.7], [[-1.0, 1.0], [0.0, 5.0]], [[0.5, 0.5], [1.0, 2.0]])
    >>> forecast.mean(), forecast.median()
    (array([0.4, 3.5]), array([0.71721275, 3.86824057]))
    """

    weights: Array
    means: Array
    stds: Array

    if TYPE_CHECKING:

        def __init__(self, weights: ArrayLike, means: ArrayLike, stds: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        parameters = checked_components(self.weights, self.means, self.stds)
        for name, array in zip(("weights", "means", "stds"), parameters, strict=True):
            object.__setattr__(self, name, array)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.means.shape[:-1])

    # ---- sums over the components ----------------------------------------------------------------------------------

    def _sum(self, terms: Terms, y: Array) -> Array:
        """The sum of terms(w_k, s_k, z_k), z = (y - mean) / std."""
        return reduce(lambda a, b: a + b, (namespace(y).sum(terms(*part), axis=0) for part in self._parts(y)))

    def _log_sum(self, terms: Terms, y: Array) -> Array:
        """The log of the sum of exp(terms(w_k, s_k, z_k))."""
        parts = (_log_of_sum(terms(*part)) for part in self._parts(y))
        return reduce(lambda a, b: _log_of_sum(namespace(y).stack([a, b])), parts)

    def _parts(self, y: Array) -> Iterator[tuple[Array, Array, Array]]:
        """w, s and z of some components at a time, along a new first axis."""
        xp, (*_, count) = namespace(y), self.means.shape
        shape = (count, *self.shape, 1) if self.shape else (count, *(1 for _ in y.shape))
        w, m, s = (xp.reshape(part.T if self.shape else part, shape) for part in (self.weights, self.means, self.stds))
        size = max(1, _AT_ONCE // max(1, math.prod(self.shape), math.prod(y.shape)))
        for start in range(0, count, size):
            i = slice(start, min(start + size, count))
            yield w[i, ...], s[i, ...], (y - m[i, ...]) / s[i, ...]

    def _cdf(self, y: Array) -> Array:
        return self._up_to(y, self._sum(lambda w, s, z: w * ndtr(z), y))

    def _sf(self, y: Array) -> Array:
        return self._up_to(-y, self._sum(lambda w, s, z: w * ndtr(-z), y))

    def _up_to(self, y: Array, F: Array) -> Array:
        """F, which is 1 at inf: the weights may sum to a rounding more or less."""
        xp, one = namespace(F), namespace(F).ones_like(F)
        return xp.where(y == xp.inf, one, xp.minimum(F, one))

    def _logpdf(self, y: Array) -> Array:
        xp, normal = namespace(y), StandardNormal()
        return self._log_sum(lambda w, s, z: safe_log(w) - xp.log(s) + normal._logpdf(z), y)

    def _logit(self, y: Array) -> tuple[Array, Array]:
        """From F and 1 - F; from the logarithms of their terms where one of the two is too small for floats."""
        xp, outside = namespace(y), namespace(y).isinf(y)
        at = xp.where(outside, xp.zeros_like(y), y)
        F, S = self._cdf(at), self._sf(at)
        tiny = 1e3 * float(xp.finfo(F.dtype).smallest_normal)
        far = (tiny > F) | (tiny > S)
        below, above = (xp.log(xp.where(far, xp.ones_like(part), part)) for part in (F, S))
        if anywhere(far):
            below = xp.where(far, self._log_sum(lambda w, s, z: safe_log(w) + log_ndtr(z), at), below)
            above = xp.where(far, self._log_sum(lambda w, s, z: safe_log(w) + log_ndtr(-z), at), above)
        log_slope = self._logpdf(at) - below - above
        return xp.where(outside, y, below - above), xp.where(outside, xp.full_like(F, xp.inf), log_slope)

    # ---- quantiles -------------------------------------------------------------------------------------------------

    def _ppf(self, p: Array) -> Array:
        return self._ppf_logit(logit(p))

    def _ppf_logit(self, s: Array) -> Array:
        """Searched for between those of the components; in double precision, as a CDF in single precision has steps."""
        xp = namespace(s)
        if single_precision(s):
            return self._at_home(self._in_double._ppf_logit(xp.astype(s, xp.float64)))
        finite = xp.where(xp.isfinite(s), s, xp.zeros_like(s))
        ends = self._ends(ndtri_logit(finite))
        low, high = xp.min(ends, axis=-1), xp.max(ends, axis=-1)
        root = solve_increasing(self._logit, xp.broadcast_to(finite, low.shape), low, high)
        return xp.where(xp.isfinite(s), root, s)

    def _ends(self, z: Array) -> Array:
        """The places of all components at a z, along a new last axis."""
        return self._lift(self.means) + self._lift(self.stds) * z[..., None]

    def _places(self, s: Array) -> Array:
        """The quantiles of every component at some of the levels."""
        xp, levels = namespace(s), s.shape[1]
        some = np.linspace(0, levels - 1, min(levels, max(_FEWEST, levels // self.means.shape[-1])))
        s = xp.take(s, xp.asarray(np.rint(some).astype(np.int64), device=array_api_compat.device(s)), axis=1)
        places = detached(self._ends(ndtri_logit(s)))
        return xp.sort(xp.reshape(places, (places.shape[0], -1)), axis=1)

    # ---- moments ---------------------------------------------------------------------------------------------------

    def _moments(self) -> Moments:
        """E |Y - Y'| = sum of w_k w_l d E |Z - (m_k - m_l) / d|, d^2 = s_k^2 + s_l^2 (Grimit et al., 2006)."""
        xp, w, m, s = namespace(self.means), self.weights, self.means, self.stds
        mean = xp.sum(w * m, axis=-1)
        variance = xp.sum(w * (s**2 + (m - mean[..., None]) ** 2), axis=-1)
        spread = xp.zeros_like(mean)
        for l in range(m.shape[-1]):
            d = xp.sqrt(s**2 + s[..., l, None] ** 2)
            z = (m - m[..., l, None]) / d
            distance = 2 * StandardNormal()._integrals(z, ONCE) - z
            spread = spread + 0.5 * xp.sum(w * w[..., l, None] * d * distance, axis=-1)
        return Moments(mean, xp.sqrt(variance), mean - spread)

    def _integrals(self, y: Array, which: int) -> Array:
        if which == SQUARE:
            return super()._integrals(y, which)
        return self._sum(lambda w, s, z: w * s**which * StandardNormal()._integrals(z, which), y)

    def _describe(self) -> str:
        return f"{self.means.shape[-1]} components"


def _log_of_sum(terms: Array) -> Array:
    """log of the sum of exp(terms), along the first axis."""
    xp = namespace(terms)
    top = xp.max(terms, axis=0)
    top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
    return safe_log(xp.sum(xp.exp(terms - top), axis=0)) + top


def checked_components(weights: Any, means: Any, stds: Any) -> tuple[Array, Array, Array]:
    """K components, of each row or of all: finite means, positive stds, weights that sum to 1 (and then exactly)."""
    means = floats("GaussianMixture.means", means)
    stds, weights = (
        floats(f"GaussianMixture.{name}", part, like=means) for name, part in (("stds", stds), ("weights", weights))
    )
    xp = namespace(means)
    for name, array in (("means", means), ("stds", stds), ("weights", weights)):
        name = f"GaussianMixture.{name}"
        if array.ndim not in (1, 2) or not array.shape[-1]:
            raise ValueError(f"{name} must have shape (K,) or (n, K), got {tuple(array.shape)}")
        if array.shape[-1] != means.shape[-1]:
            raise ValueError(
                f"{name} must have a column for each of {means.shape[-1]} components, got {array.shape[-1]}"
            )
        if array.ndim == 2 and means.ndim == 2:
            same_length("GaussianMixture.means", means.shape[0], name, array.shape[0])
    refuse("GaussianMixture.stds", stds <= 0, "is not positive")
    refuse("GaussianMixture.weights", weights < 0, "is negative")
    total = xp.sum(weights, axis=-1, keepdims=True)
    rounding = 4 * weights.shape[-1] * float(xp.finfo(weights.dtype).eps)
    wrong = xp.abs(total - 1) > max(1e-6, rounding)
    refuse("GaussianMixture.weights", wrong if weights.ndim > 1 else wrong[0], "does not sum to 1")
    # a slice of weights that were made to sum to 1 stays as it is
    weights = xp.where(xp.abs(total - 1) <= rounding, weights, weights / total)
    weights, means, stds = xp.broadcast_arrays(weights, means, stds)
    return weights, means, stds
