"""The pool of several forecasts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, cast

import array_api_compat
import numpy as np

from calibrant._arguments import same_length
from calibrant._arrays import Array, concatenate, detached, device_like, floats, namespace
from calibrant._batch import row_size, shared, take_rows
from calibrant._roots import newton_step, solve_increasing
from calibrant._special import logit, sigmoid
from calibrant.distributions.base import Distribution, handed_in
from calibrant.distributions.disagreement import disagreement
from calibrant.distributions.integrals import PartialMoments
from calibrant.distributions.integrated import Integrated
from calibrant.distributions.logits import logit_of
from calibrant.distributions.pooled_quantiles import LOWER, UPPER, LineEnd, pooled_quantiles
from calibrant.distributions.solved import Solved

_TINY = 700.0  # the logit from which on probabilities are too small for floats
_TOGETHER = 2**16  # numbers of the rows that are searched at a time, where there are several levels for each
_ROWS = 64  # integrated at a time: each has hundreds of nodes
_UPPER = 9.0  # the logit from which on 1 - F has more digits than F
_FAR = 40.0  # the logit from which on a CDF is far from straight lines; its logarithm is not


@dataclass(frozen=True, eq=False, repr=False)
class Mixture(Solved, Integrated):
    """F(y) = sum of weights[k] * components[k].cdf(y): a draw from a component drawn at random.

    Mean and std are the components' own. Quantiles are found between the components', see
    `calibrant.distributions.pooled_quantiles`. The crps is the mean of the components' less the integral of the
    variance of their CDFs, see `calibrant.distributions.disagreement`: its relative error is 1e-6 at most, but for
    tails so heavy that there is hardly a mean. It is infinite where that of a component is; a component may lack a mean
    and have a finite crps.

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
        """Without those of no weight, which may be infinite."""
        return reduce(lambda a, b: a + b, (w * term for w, term in zip(self.weights, terms, strict=True) if w > 0))

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

    def _logpmf(self, y: Array) -> Array:
        return self._log_sum([law._logpmf(y) for law in self.components])

    def _pit(self, y: Array, u: Array) -> Array:
        return self._sum([law._pit(y, u) for law in self.components])

    @property
    def lattice(self) -> tuple[float, float] | None:
        """That of the components, if they share one."""
        first = self.components[0].lattice
        return first if all(law.lattice == first for law in self.components) else None

    def _logit(self, y: Array) -> Array:
        """From F and 1 - F themselves; from their logarithms where these are too small for floats."""
        return logit_of(self._cdf(y), self._sf(y), lambda: Distribution._logit(self, y))

    def _ppf(self, p: Array) -> Array:
        return self._quantile(p, logit(p))

    def _ppf_logit(self, s: Array) -> Array:
        return self._quantile(sigmoid(s), s)

    def _quantile(self, p: Array, s: Array) -> Array:
        """At probability p = sigmoid(s)."""
        xp = namespace(s)
        if self.lattice is not None:
            return self._point(s)
        if not self.shape:
            y = xp.reshape(self._column(xp.reshape(p, (-1,)), xp.reshape(s, (-1,))), s.shape)
        else:
            p, s = (xp.broadcast_to(part, (len(self), s.shape[1])) for part in (p, s))
            step = max(1, _TOGETHER // max(1, len(self) * row_size(self)))
            parts = [slice(start, min(start + step, s.shape[1])) for start in range(0, s.shape[1], step)]
            y = concatenate([self._columns(p[:, part], s[:, part]) for part in parts], axis=1) if parts else s
        return y if array_api_compat.is_numpy_array(y) else self._graded(y, s)

    def _point(self, s: Array) -> Array:
        """The point of a lattice, searched for; the ends are those of the components."""
        xp = namespace(s)
        ends = [law._ppf_logit(s) for law, weight in zip(self.components, self.weights, strict=True) if weight > 0]
        low, high = reduce(xp.minimum, ends), reduce(xp.maximum, ends)
        y = handed_in["on lattice"](self)._ppf_logit(s)
        return xp.where(s == -xp.inf, low, xp.where(s == xp.inf, high, y))

    def _graded(self, y: Array, s: Array) -> Array:
        """One Newton step from the quantile, through which torch's gradients flow."""
        xp = namespace(s)
        inside = xp.isfinite(s) & xp.isfinite(y)
        s, start = (xp.where(inside, part, xp.zeros_like(part)) for part in (s, detached(y)))
        ends = [detached(law._ppf_logit(s)) for law in self.components]
        width = reduce(xp.maximum, ends) - reduce(xp.minimum, ends)
        return xp.where(inside, newton_step(self._logit_and_log_slope, s, start, width), y)

    def _columns(self, p: Array, s: Array) -> Array:
        """Several levels for each row: one for each of as many rows, since these are searched together."""
        xp, (n, m) = namespace(s), s.shape
        if m == 1:
            return self._column(p[:, 0], s[:, 0])[:, None]
        each = take_rows(self, xp.arange(n * m, device=array_api_compat.device(s)) // m)
        return xp.reshape(each._column(xp.reshape(p, (-1,)), xp.reshape(s, (-1,))), (n, m))

    def _column(self, p: Array, s: Array) -> Array:
        """One level for each row, or any of a single law: from the upper end where F, close to 1, has few digits."""
        xp, p, s = namespace(s), detached(p), detached(s)
        far, upper = xp.abs(s) > (_TINY if self.is_discrete else _FAR), s > _UPPER
        if not bool(xp.any(far | upper)):
            return self._pooled(p, LOWER)
        y = xp.zeros_like(s)
        for rows, level, side in ((~(far | upper), p, LOWER), (upper & ~far, sigmoid(-s), UPPER), (far, s, None)):
            if bool(xp.any(rows)):
                law = take_rows(self, rows) if self.shape else self
                y[rows] = law._far_out(level[rows]) if side is None else law._pooled(level[rows], side)
        return y

    def _pooled(self, p: Array, side: LineEnd) -> Array:
        return pooled_quantiles(self.components, self.weights, p, side, discrete=self.is_discrete)

    def _far_out(self, s: Array) -> Array:
        """Where probabilities are too small for floats, from their logarithms; at 0 and 1 the ends of the law."""
        xp = namespace(s)
        s = s[:, None] if self.shape else s
        ends = [law._ppf_logit(s) for law, weight in zip(self.components, self.weights, strict=True) if weight > 0]
        low, high = reduce(xp.minimum, ends), reduce(xp.maximum, ends)
        sure = xp.isfinite(low) & xp.isfinite(high) & xp.isfinite(s)
        zero = xp.zeros_like(low)
        held = (xp.where(sure, part, zero) for part in (s, low, high))
        with np.errstate(over="ignore"):  # the density of one component far out in the tail of another
            root = solve_increasing(self._logit_and_log_slope, *held)
        y = xp.where(sure, root, xp.where(s > 0, high, low))
        return y[:, 0] if self.shape else y

    def _breaks(self) -> Array:
        """Those of every component."""
        points = concatenate([device_like(law._breaks(), self.like) for law in self.components])
        return namespace(points).sort(points)

    @property
    def bends_often(self) -> bool:
        return any(law.bends_often for law in self.components)

    @property
    def is_discrete(self) -> bool:
        return all(law.is_discrete for law in self.components)

    def _mean(self) -> Array:
        return self._sum([law._mean() for law in self.components])

    def _std(self) -> Array:
        """sqrt(sum of w_k (std_k^2 + (mean_k - mean)^2))."""
        xp = namespace(self.like)
        means, stds = [law._mean() for law in self.components], [law._std() for law in self.components]
        pairs = zip(self.weights, means, stds, strict=True)
        finite = reduce(lambda a, b: a & b, (xp.isfinite(mean) & xp.isfinite(std) for w, mean, std in pairs if w > 0))
        means = [xp.where(finite, value, xp.zeros_like(value)) for value in means]
        centre = self._sum(means)
        variance = self._sum([std**2 + (mean - centre) ** 2 for mean, std in zip(means, stds, strict=True)])
        return xp.sqrt(xp.where(finite, variance, xp.full_like(variance, xp.inf)))

    def _crps(self, y: Array) -> Array:
        """sum of w_k crps_k(y), less the integral of sum w_k F_k^2 - F^2, the variance of the components' CDFs."""
        if self.lattice is not None:  # a sum over its points
            return cast(Array, handed_in["on lattice"](self)._crps(y))
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

    def _infinite_mass(self) -> tuple[Any, Any]:
        below, above = zip(*(law._infinite_mass() for law in self.components), strict=True)
        return self._sum(list(below)), self._sum(list(above))

    def _describe(self) -> str:
        return f"{len(self.components)} components"
