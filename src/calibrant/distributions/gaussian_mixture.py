"""The mixture of normal distributions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import array_api_compat
import numpy as np

from calibrant._arguments import same_length
from calibrant._arrays import Array, anywhere, detached, floats, namespace, refuse, single_precision
from calibrant._search import solve_increasing
from calibrant._special import log_ndtr, logit, ndtr, ndtri_logit, safe_log
from calibrant._types import ArrayLike
from calibrant.distributions.base import Distribution, Moments
from calibrant.distributions.parameters import keep
from calibrant.distributions.standard_families import StandardNormal
from calibrant.distributions.table import ONCE

_FEWEST = 33  # places of a component in a table


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
        names = [f"GaussianMixture.{name}" for name in ("means", "stds", "weights")]
        means = floats(names[0], self.means)
        stds, weights = floats(names[1], self.stds, like=means), floats(names[2], self.weights, like=means)
        xp = namespace(means)
        for name, array in zip(names, (means, stds, weights), strict=True):
            if array.ndim not in (1, 2) or not array.shape[-1]:
                raise ValueError(f"{name} must have shape (K,) or (n, K), got {tuple(array.shape)}")
            K, own = means.shape[-1], array.shape[-1]
            if own != K:
                raise ValueError(f"{name} must have a column for each of {K} components, got {own}")
            if array.ndim == 2 and means.ndim == 2:
                same_length(names[0], means.shape[0], name, array.shape[0])
        refuse("GaussianMixture.stds", stds <= 0, "is not positive")
        refuse("GaussianMixture.weights", weights < 0, "is negative")
        total = xp.sum(weights, axis=-1, keepdims=True)
        rounding = 4 * weights.shape[-1] * float(xp.finfo(weights.dtype).eps)
        wrong = xp.abs(total - 1) > max(1e-6, rounding)
        refuse("GaussianMixture.weights", wrong if weights.ndim > 1 else wrong[0], "does not sum to 1")
        # a slice of weights that were made to sum to 1 stays as it is
        weights = xp.where(xp.abs(total - 1) <= rounding, weights, weights / total)
        weights, means, stds = xp.broadcast_arrays(weights, means, stds)
        keep(self, weights=weights, means=means, stds=stds)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.means.shape[:-1])

    # ---- sums over the components ----------------------------------------------------------------------------------

    def _terms(self, term: Callable[[Array, Array, Array], Array], y: Array) -> list[Array]:
        """term(w, s, z) of each component, z = (y - mean) / std."""
        columns = (
            tuple(self._lift(part[..., k]) for part in (self.weights, self.means, self.stds))
            for k in range(self.means.shape[-1])
        )
        return [term(w, s, (y - m) / s) for w, m, s in columns]

    def _sum(self, term: Callable[[Array, Array, Array], Array], y: Array) -> Array:
        return reduce(operator.add, self._terms(term, y))

    def _log_sum(self, term: Callable[[Array, Array, Array], Array], y: Array) -> Array:
        """The log of the sum of exp(term)."""
        terms, xp = self._terms(term, y), namespace(y)
        top = detached(reduce(xp.maximum, terms))
        top = xp.where(xp.isfinite(top), top, 0.0)
        return safe_log(reduce(operator.add, (xp.exp(part - top) for part in terms))) + top

    def _cdf(self, y: Array) -> Array:
        return self._share(y, 1)

    def _sf(self, y: Array) -> Array:
        return self._share(y, -1)

    def _share(self, y: Array, sign: int) -> Array:
        """The mass below y, or above it; 1 at the end, though the weights may sum to a rounding more or less."""
        xp, F = namespace(y), self._sum(lambda w, s, z: w * ndtr(sign * z), y)
        return xp.where(sign * y == xp.inf, 1.0, xp.minimum(F, xp.ones_like(F)))

    def _logpdf(self, y: Array) -> Array:
        xp, normal = namespace(y), StandardNormal()
        return self._log_sum(lambda w, s, z: safe_log(w) - xp.log(s) + normal._logpdf(z), y)

    def _logit(self, y: Array) -> tuple[Array, Array]:
        """From F and 1 - F; from the logarithms of their terms where one of the two is too small for floats."""
        xp, (value, log_slope) = namespace(y), super()._logit(y)
        far = xp.isinf(value) & xp.isfinite(y)
        if not anywhere(far):
            return value, log_slope
        at = xp.where(far, y, 0.0)
        below = self._log_sum(lambda w, s, z: safe_log(w) + log_ndtr(z), at)
        above = self._log_sum(lambda w, s, z: safe_log(w) + log_ndtr(-z), at)
        far_slope = self._logpdf(at) - below - above
        return xp.where(far, below - above, value), xp.where(far, far_slope, log_slope)

    # ---- quantiles -------------------------------------------------------------------------------------------------

    def _ppf(self, p: Array) -> Array:
        return self._ppf_logit(logit(p))

    def _ppf_logit(self, s: Array) -> Array:
        """Searched for between those of the components; in double precision, as a CDF in single precision has steps."""
        xp = namespace(s)
        if single_precision(s):
            return self._at_home(self._in_double._ppf_logit(xp.astype(s, xp.float64)))
        finite = xp.where(xp.isfinite(s), s, 0.0)
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
        if which != ONCE:
            return super()._integrals(y, which)
        return self._sum(lambda w, s, z: w * s * StandardNormal()._integrals(z, ONCE), y)

    def _describe(self) -> str:
        return f"{self.means.shape[-1]} components"
