"""The pool of several forecasts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import array_api_compat
import numpy as np

from calibrant._arrays import Array, concatenate, floats, namespace, same_length
from calibrant._batch import shared, take_rows
from calibrant._roots import newton_step, secants, solve_increasing
from calibrant._special import logit, sigmoid
from calibrant.distributions.base import Distribution
from calibrant.distributions.disagreement import disagreement
from calibrant.distributions.integrals import PartialMoments
from calibrant.distributions.integrated import Integrated
from calibrant.distributions.logits import logit_of
from calibrant.distributions.solved import Solved

_ROWS = 64  # integrated at a time: each has hundreds of nodes


@dataclass(frozen=True, eq=False, repr=False)
class Mixture(Solved, Integrated):
    """F(y) = sum of weights[k] * components[k].cdf(y): a draw from a component drawn at random.

    Mean and std are the components' own. Quantiles by secants and by safeguarded Newton steps on the logit of F. The
    crps is the mean of the components' less the integral of the variance of their CDFs, see
    `calibrant.distributions.disagreement`: its relative error is below 1e-6.

    >>> from calibrant import Normal
    >>> Mixture([Normal([0.0], 1.0), Normal([4.0], 1.0)], [0.25, 0.75]).mean()
    array([3.])
    """

    components: tuple[Distribution, ...]
    weights: tuple[float, ...] = shared()

    def __post_init__(self) -> None:
        components = tuple(self.components)
        if not components or not all(isinstance(law, Distribution) for law in components):
            raise TypeError(f"Mixture.components must be distributions, at least one, got {self.components!r}")
        for k, law in enumerate(components):
            if law.shape != components[0].shape:
                shapes = f"{components[0].shape} and {law.shape}"
                raise ValueError(f"Mixture.components[{k}] must have the shape of the first, got {shapes}")
        weights = tuple(float(weight) for weight in floats("Mixture.weights", self.weights, ndim=1))
        same_length("Mixture.components", len(components), "Mixture.weights", len(weights))
        if min(weights) < 0 or abs(sum(weights) - 1) > 1e-6:
            raise ValueError(f"Mixture.weights must be at least 0 and sum to 1, got {list(weights)}")
        object.__setattr__(self, "components", components)
        object.__setattr__(self, "weights", weights)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.components[0].shape

    def _sum(self, terms: list[Array]) -> Array:
        return reduce(lambda a, b: a + b, (w * term for w, term in zip(self.weights, terms, strict=True)))

    def _log_sum(self, terms: list[Array]) -> Array:
        xp = namespace(terms[0])
        top = reduce(xp.maximum, terms)
        top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
        total = self._sum([xp.exp(term - top) for term in terms])
        some = total > 0
        return xp.where(some, xp.log(xp.where(some, total, xp.ones_like(total))) + top, xp.full_like(total, -xp.inf))

    def _cdf(self, y: Array) -> Array:
        return self._sum([law._cdf(y) for law in self.components])

    def _sf(self, y: Array) -> Array:
        return self._sum([law._sf(y) for law in self.components])

    def _cdf_left(self, y: Array) -> Array:
        return self._sum([law._cdf_left(y) for law in self.components])

    def _logcdf(self, y: Array) -> Array:
        return self._log_sum([law._logcdf(y) for law in self.components])

    def _logsf(self, y: Array) -> Array:
        return self._log_sum([law._logsf(y) for law in self.components])

    def _logpdf(self, y: Array) -> Array:
        return self._log_sum([law._logpdf(y) for law in self.components])

    def _logit(self, y: Array) -> Array:
        """From F and 1 - F themselves; from their logarithms where these are too small for floats."""
        return logit_of(self._cdf(y), self._sf(y), lambda: Distribution._logit(self, y))

    def _ppf(self, p: Array) -> Array:
        return self._ppf_logit(logit(p))

    def _ppf_logit(self, s: Array) -> Array:
        """The quantile lies between the least and the greatest of the components' quantiles."""
        xp = namespace(s)
        ends = [law._ppf_logit(s) for law in self.components]
        low, high = reduce(xp.minimum, ends), reduce(xp.maximum, ends)
        finite = xp.broadcast_to(xp.where(xp.isfinite(s), s, xp.zeros_like(s)), low.shape)
        within = xp.isfinite(xp.broadcast_to(s, low.shape))
        start = reduce(lambda a, b: xp.where(xp.isfinite(a), a, b), [*ends, xp.zeros_like(low)])
        low = xp.where(within & (low == -xp.inf), self._beyond(start, finite, within & (low == -xp.inf), -1.0), low)
        high = xp.where(within & (high == xp.inf), self._beyond(start, finite, within & (high == xp.inf), 1.0), high)
        sure = xp.isfinite(low) & xp.isfinite(high)
        zero = xp.zeros_like(low)
        root = self._roots(finite, xp.where(sure, low, zero), xp.where(sure, high, zero))
        return xp.where(sure, self._onto_atoms(root, finite), xp.where(s > 0, high, low))

    def _roots(self, s: Array, low: Array, high: Array) -> Array:
        """Newton's; for numpy secants first, which most rows are soon done with, and Newton for the rest."""
        if not self.shape or not array_api_compat.is_numpy_array(s):
            return solve_increasing(self._logit_and_log_slope, s, low, high)
        root, p = np.empty_like(low), sigmoid(s)
        for j in range(s.shape[1]):

            def above(y: Array, rows: Array, j: int = j) -> Array:
                law = self if len(rows) == len(self) else take_rows(self, rows)
                return law._cdf(y[:, None])[:, 0] - p[rows, j]

            tail = np.minimum(p[:, j], 1 - p[:, j])
            close = np.where(tail > 1e-6, 1e-13 * tail, -1.0)  # farther out F has too few digits: left to Newton
            root[:, j], left = secants(above, low[:, j], high[:, j], close)
            if left.size:
                law, own = take_rows(self, left), (left, slice(j, j + 1))
                newton = solve_increasing(law._logit_and_log_slope, s[own], low[own], high[own])
                root[left, j] = newton[:, 0]
        return newton_step(self._logit_and_log_slope, s, root, high - low)

    def _beyond(self, start: Array, s: Array, wanted: Array, way: float) -> Array:
        """Where one component's quantile is infinite and the mixture's need not be: a place beyond it, or infinity."""
        xp = namespace(start)
        if not bool(xp.any(wanted)):
            return start
        far = xp.full_like(start, way * float(xp.finfo(start.dtype).max) / 4)
        reached = wanted & (way * (self._logit_and_log_slope(far)[0] - s) > 0)
        y, step = start, 1 + xp.abs(start)
        for _ in range(500):
            short = reached & (way * (self._logit_and_log_slope(y)[0] - s) <= 0)
            if not bool(xp.any(short)):
                break
            y, step = xp.where(short, y + way * step, y), 2 * step
        return xp.where(reached, y, way * xp.full_like(start, xp.inf))

    def _onto_atoms(self, y: Array, s: Array) -> Array:
        """Where the search closed in on an atom from below, the atom."""
        xp = namespace(y)
        up = xp.full_like(y, xp.inf)
        for _ in range(4):
            short = xp.isinf(self._logpdf(y)) & (self._cdf(y) < sigmoid(s))
            if not bool(xp.any(short)):
                break
            y = xp.where(short, xp.nextafter(y, up), y)
        return y

    def _mean(self) -> Array:
        return self._sum([law._mean() for law in self.components])

    def _std(self) -> Array:
        """sqrt(sum of w_k (std_k^2 + (mean_k - mean)^2))."""
        xp = namespace(self.like)
        means, stds = [law._mean() for law in self.components], [law._std() for law in self.components]
        finite = reduce(lambda a, b: a & b, (xp.isfinite(value) for value in (*means, *stds)))
        means = [xp.where(finite, value, xp.zeros_like(value)) for value in means]
        centre = self._sum(means)
        variance = self._sum([std**2 + (mean - centre) ** 2 for mean, std in zip(means, stds, strict=True)])
        return xp.sqrt(xp.where(finite, variance, xp.full_like(variance, xp.inf)))

    def _crps(self, y: Array) -> Array:
        """sum of w_k crps_k(y), less the integral of sum w_k F_k^2 - F^2, the variance of the components' CDFs."""
        crps = self._sum([law._crps(y) for law in self.components])
        finite = namespace(crps).isfinite(crps)
        if not self.shape:
            apart = disagreement(self.components, self.weights)
        else:
            starts = range(0, max(1, len(self)), _ROWS)
            blocks = (take_rows(self, slice(start, min(start + _ROWS, len(self)))) for start in starts)
            apart = concatenate([disagreement(block.components, self.weights) for block in blocks])[:, None]
        return namespace(crps).where(finite, crps - apart, crps)

    def _partial_moments(self, y: Array) -> PartialMoments:
        parts = [law._partial_moments(y) for law in self.components]
        return PartialMoments(*(self._sum(list(column)) for column in zip(*parts, strict=True)))

    def _moments_within(self, y: Array, lower: Array, upper: Array) -> PartialMoments:
        parts = [law._moments_within(y, lower, upper) for law in self.components]
        return PartialMoments(*(self._sum(list(column)) for column in zip(*parts, strict=True)))

    def _places(self, s: Array) -> Array:
        """Those of every component."""
        xp = namespace(self.like)
        return xp.sort(concatenate([law._places(s) for law in self.components], axis=1), axis=1)

    def _infinite_mass(self) -> tuple[Array, Array]:
        below, above = zip(*(law._infinite_mass() for law in self.components), strict=True)
        return self._sum(list(below)), self._sum(list(above))

    def _describe(self) -> str:
        return f"{len(self.components)} components"
