"""Mixtures of K moved and stretched copies of one kernel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from calibrant._arguments import same_length
from calibrant._arrays import (
    Array,
    clip,
    complain,
    concatenate,
    detached,
    device_like,
    floats,
    namespace,
    single_precision,
    to_numpy,
)
from calibrant._batch import take_rows
from calibrant._roots import solve_increasing
from calibrant._search import count_up_to, gather
from calibrant._special import levels_around, logit, safe_log
from calibrant.distributions.base import Distribution
from calibrant.distributions.gauss import nodes_and_weights
from calibrant.distributions.in_double import in_double
from calibrant.distributions.integrals import PartialMoments, Squares, double
from calibrant.distributions.logits import LOGIT_GRID, logit_of
from calibrant.distributions.solved import Solved

_FEW = 8  # components
_BLOCK = 2**22  # kernel values held at a time
_FAR = np.asarray([50.0, 60, 80, 110, 150, 200, 300, 500, 700])
_FAR = np.concatenate([-_FAR[::-1], _FAR])


class KernelMixture(Solved):
    """F(y) = sum of w_k G((y - m_k) / s_k), G the kernel: every method is a sum over the kernel's.

    Tails by log-sum-exp; quantiles by safeguarded Newton steps on the logit of F, between the least and the
    greatest of the components' quantiles; mean, std and E |Y - y| closed; integrals of F^2 by Gauss-Legendre
    between points that follow every component (error about 1e-11). Works in blocks of bounded memory.
    """

    # ---- what a mixture must say ---------------------------------------------------------------------------

    @property
    @abstractmethod
    def _kernel(self) -> Distribution:
        """G, with mean 0."""

    @property
    @abstractmethod
    def _components(self) -> tuple[Array, Array, Array]:
        """Weights, locs and scales, each of shape (n, K), or (K,) for a single law."""

    @property
    @abstractmethod
    def _spread(self) -> Array:
        """E |Y - Y'| / 2, the integral of F (1 - F)."""

    @property
    @abstractmethod
    def _grid(self) -> Array:
        """Points between which the kernel is smooth, and beyond which its square is nothing, as numpy."""

    @abstractmethod
    def _distance(self, z: Array) -> Array:
        """E |Z - z| for the kernel."""

    @abstractmethod
    def _kernel_moments(self, z: Array) -> PartialMoments:
        """The kernel's partial moments, in closed form."""

    # ---- what follows --------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """One law for each row of the components."""
        return tuple(self._components[1].shape[:-1])

    def _cdf(self, y: Array) -> Array:
        return self._sum(self._kernel._cdf, y)

    def _sf(self, y: Array) -> Array:
        return self._sum(self._kernel._sf, y)

    def _logcdf(self, y: Array) -> Array:
        return self._log_sum(lambda z, s: self._kernel._logcdf(z), y)

    def _logsf(self, y: Array) -> Array:
        return self._log_sum(lambda z, s: self._kernel._logsf(z), y)

    def _logpdf(self, y: Array) -> Array:
        return self._log_sum(lambda z, s: self._kernel._logpdf(z) - namespace(s).log(s), y)

    def _sum(self, function: Callable[[Array], Array], y: Array, power: int = 0) -> Array:
        """The sum of w_k s_k^power function(z_k); of few components one after the other, which is faster."""
        w, m, s = self._components
        if m.shape[-1] <= _FEW:
            parts = ([self._lift(column[..., k]) for column in (w, m, s)] for k in range(m.shape[-1]))
            terms = ((w * s**power if power else w) * function((y - m) / s) for w, m, s in parts)
            return reduce(lambda a, b: a + b, terms)
        return self._blocks(lambda z, w, s: namespace(z).sum(w * s**power * function(z), axis=-1), y)

    def _log_sum(self, function: Callable[[Array, Array], Array], y: Array) -> Array:
        """The log of the sum of w_k exp(function(z_k, s_k))."""
        return self._blocks(lambda z, w, s: _log_of_sum(safe_log(w) + function(z, s)), y)

    def _blocks(self, body: Callable[[Array, Array, Array], Array], y: Array) -> Array:
        """body(z, w, s), with the components along the last axis, for a block of y at a time."""
        w, m, s = (self._lift(parameter) for parameter in self._components)
        count = m.shape[-1]
        if not self.shape:
            flat = namespace(y).reshape(y, (-1, 1))
            size = max(1, _BLOCK // count)
            parts = [body((flat[i, :] - m) / s, w, s) for i in _slices(flat.shape[0], size)]
            return namespace(y).reshape(concatenate(parts), y.shape)
        y = namespace(y).broadcast_to(y, (self.shape[0], y.shape[1]))[..., None]
        size = max(1, _BLOCK // (count * max(y.shape[1], 1)))
        rows = _slices(y.shape[0], size)
        return concatenate([body((y[i, ...] - m[i, ...]) / s[i, ...], w[i, ...], s[i, ...]) for i in rows])

    def _ppf(self, p: Array) -> Array:
        return self._ppf_logit(logit(p))

    def _ppf_logit(self, s: Array) -> Array:
        """Solved for between the quantiles of the components; in double precision, as a CDF of single one has steps."""
        if single_precision(s):
            return in_double(self.to(double(s))._ppf_logit, s)
        xp = namespace(s)
        _, loc, scale = (self._lift(parameter) for parameter in self._components)
        z = self._kernel._ppf_logit(s)[..., None]
        ends = loc + scale * z
        low, high = xp.min(ends, axis=-1), xp.max(ends, axis=-1)
        sure = xp.isfinite(low) & xp.isfinite(high)
        root = solve_increasing(
            self._logit_and_log_slope,
            xp.broadcast_to(xp.where(xp.isfinite(s), s, xp.zeros_like(s)), low.shape),
            xp.where(sure, low, xp.zeros_like(low)),
            xp.where(sure, high, xp.zeros_like(low)),
        )
        return xp.where(sure, root, xp.where(s > 0, high, low))

    def _places(self, s: Array) -> Array:
        """The quantiles of every component."""
        _, m, r = (detached(parameter) for parameter in self._components)
        xp, z = namespace(m), self._kernel._ppf_logit(device_like(levels_around(s), m))
        return xp.sort(xp.reshape(m[..., None] + r[..., None] * z, (m.shape[0], -1)), axis=1)

    def _logit(self, y: Array) -> Array:
        """From F and 1 - F themselves; from their logarithms where these are too small for floats."""
        return logit_of(self._cdf(y), self._sf(y), lambda: Distribution._logit(self, y))

    def _logit_and_log_slope(self, y: Array) -> tuple[Array, Array]:
        """From F, 1 - F and f themselves; from their logarithms where these are too small for floats."""
        xp, kernel = namespace(self.like), self._kernel
        F, S, f = self._cdf(y), self._sf(y), self._sum(lambda z: xp.exp(kernel._logpdf(z)), y, power=-1)
        tiny = 1e3 * float(xp.finfo(F.dtype).smallest_normal)
        far = (tiny > F) | (tiny > S) | (f < tiny)
        if bool(xp.any(far)):
            slow, slow_slope = Distribution._logit(self, y), self._log_slope_far(y)
            F, S, f = (xp.where(far, xp.full_like(part, 0.5), part) for part in (F, S, f))
            value, log_slope = xp.log(F) - xp.log(S), xp.log(f) - xp.log(F) - xp.log(S)
            return xp.where(far, slow, value), xp.where(far, slow_slope, log_slope)
        return xp.log(F) - xp.log(S), xp.log(f) - xp.log(F) - xp.log(S)

    def _log_slope_far(self, y: Array) -> Array:
        """From the components' own slopes, weighted by their parts of the smaller tail: no large logs are compared."""

        def body(z: Array, w: Array, s: Array) -> Array:
            xp, slope = namespace(z), self._kernel._logit_and_log_slope(z)[1]
            tails = self._kernel._logcdf(z), self._kernel._logsf(z)
            sums, rates = [], []
            for own, other in (tails, tails[::-1]):
                terms = safe_log(w) + own
                top = xp.max(terms, axis=-1)
                terms = terms - xp.where(xp.isfinite(top), top, xp.zeros_like(top))[..., None]
                total = _log_of_sum(terms)
                sums.append(total + top)
                rates.append(_log_of_sum(terms + (slope + other - xp.log(s))) - total)
            return xp.where(sums[1] < sums[0], rates[1] - sums[0], rates[0] - sums[1])

        with np.errstate(all="ignore"):
            return self._blocks(body, y)

    def _mean(self) -> Array:
        w, m, _ = self._components
        return namespace(m).sum(w * m, axis=-1)

    def _std(self) -> Array:
        """The root of the sum of w (s^2 v + (m - mean)^2), v the kernel's variance."""
        w, m, s = self._components
        xp = namespace(m)
        distance = xp.hypot(m - self._mean()[..., None], s * self._kernel._std())
        unit = xp.max(distance, axis=-1)  # squares of shares of it neither vanish nor overflow
        return unit * xp.sqrt(xp.sum(w * (distance / unit[..., None]) ** 2, axis=-1))

    def _crps(self, y: Array) -> Array:
        """E |Y - y| - E |Y - Y'| / 2."""
        return self._sum(self._distance, y, power=1) - self._lift(self._spread)

    def _partial_moments(self, y: Array) -> PartialMoments:
        moments = self._kernel_moments
        return PartialMoments(
            self._sum(lambda z: moments(z).lower, y, power=1),
            self._sum(lambda z: moments(z).lower2, y, power=2),
            self._sum(lambda z: moments(z).upper, y, power=1),
            self._sum(lambda z: moments(z).upper2, y, power=2),
        )

    def _squares(self, y: Array) -> Squares:
        """Whole pieces on either side of y, and the two parts of its own piece."""
        xp = namespace(self.like)
        if self.shape:
            size = max(1, _BLOCK // (5 * (self._components[1].shape[1] * len(self._grid) + y.shape[1])))
            if self.shape[0] > size:
                y = xp.broadcast_to(y, (self.shape[0], y.shape[1]))
                parts = [take_rows(self, i)._squares(y[i, :]) for i in _slices(self.shape[0], size)]
                return Squares(*(concatenate(column) for column in zip(*parts, strict=True)))
        edges = self._edges()
        table = edges if self.shape else edges[None, :]
        points = xp.broadcast_to(y, (table.shape[0], y.shape[1])) if self.shape else xp.reshape(y, (1, -1))
        piece = clip(count_up_to(table, points) - 1, 0, table.shape[1] - 2)
        inside = clip(points, table[:, :1], table[:, -1:])

        def integrals(low: Array, high: Array) -> tuple[Array, Array]:
            nodes, weights = nodes_and_weights(low, high)
            F, S = (xp.reshape(f(xp.reshape(nodes, (low.shape[0], -1))), nodes.shape) for f in (self._cdf, self._sf))
            return xp.sum(weights * F**2, axis=-1), xp.sum(weights * S**2, axis=-1)

        F2, S2 = integrals(table[:, :-1], table[:, 1:])
        below, _ = integrals(gather(table, piece), inside)
        _, above = integrals(inside, gather(table, piece + 1))
        zero = xp.zeros_like(F2[:, :1])
        F2 = xp.cumulative_sum(concatenate([zero, F2], axis=1), axis=1)
        S2 = xp.flip(xp.cumulative_sum(concatenate([zero, xp.flip(S2, axis=1)], axis=1), axis=1), axis=1)
        lower = gather(F2, piece) + below + xp.maximum(points - table[:, -1:], xp.zeros_like(points))
        upper = gather(S2, piece + 1) + above + xp.maximum(table[:, :1] - points, xp.zeros_like(points))
        shape = points.shape if self.shape else y.shape
        return Squares(xp.reshape(lower, shape), xp.reshape(upper, shape))

    def _edges(self) -> Array:
        """Every component's own grid, sorted: (n, M), or (M,) for a single law."""
        _, m, s = (detached(parameter) for parameter in self._components)
        xp = namespace(m)
        points = m[..., None] + s[..., None] * device_like(self._grid, m)
        return xp.sort(xp.reshape(points, (*self.shape, -1)), axis=-1)

    def _breaks(self) -> Array:
        """The edges, points at a fine grid of probabilities, and a few far out."""
        edges = self._edges()
        xp = namespace(edges)
        near = np.interp(LOGIT_GRID, to_numpy(self._logit(edges)), to_numpy(edges))
        _, m, s = (detached(parameter) for parameter in self._components)
        far = m[..., None] + s[..., None] * self._kernel._ppf_logit(device_like(_FAR, m))
        return xp.sort(concatenate([edges, device_like(near, edges), xp.min(far, axis=0), xp.max(far, axis=0)]))

    def _describe(self) -> str:
        return f"{self._components[1].shape[-1]} components"


def _log_of_sum(terms: Array) -> Array:
    """log of the sum of exp(terms), along the last axis."""
    xp = namespace(terms)
    top = xp.max(terms, axis=-1)
    top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
    return safe_log(xp.sum(xp.exp(terms - top[..., None]), axis=-1)) + top


def _slices(count: int, size: int) -> list[slice]:
    """Blocks of at most `size` that cover 0 .. count - 1; one, empty, where there is nothing."""
    return [slice(i, min(i + size, count)) for i in range(0, max(count, 1), size)]


def checked_components(
    law: str, weights: Any, locs: Any, scales: Any, names: tuple[str, str], ndims: tuple[int, ...]
) -> tuple[Array, Array, Array]:
    """The door for K components: finite locs, positive scales, weights that sum to 1 (and then exactly)."""
    loc_name, scale_name, weight_name = f"{law}.{names[0]}", f"{law}.{names[1]}", f"{law}.weights"
    locs = floats(loc_name, locs)
    scales, weights = floats(scale_name, scales, like=locs), floats(weight_name, weights, like=locs)
    xp = namespace(locs)
    for name, array in ((loc_name, locs), (scale_name, scales), (weight_name, weights)):
        if array.ndim not in ndims or not array.shape[-1]:
            wanted = " or ".join(["", "(K,)", "(n, K)"][ndim] for ndim in ndims)
            raise ValueError(f"{name} must have shape {wanted}, got {tuple(array.shape)}")
        if array.shape[-1] != locs.shape[-1]:
            raise ValueError(
                f"{name} must have a column for each of {locs.shape[-1]} components, got {array.shape[-1]}"
            )
        if array.ndim == 2 and locs.ndim == 2:
            same_length(loc_name, locs.shape[0], name, array.shape[0])
    if bool(xp.any(scales <= 0)):
        complain(scale_name, scales <= 0, "is not positive")
    if bool(xp.any(weights < 0)):
        complain(weight_name, weights < 0, "is negative")
    total, eps = xp.sum(weights, axis=-1, keepdims=True), float(xp.finfo(weights.dtype).eps)
    rounding = 4 * weights.shape[-1] * eps
    wrong = xp.abs(total - 1) > max(1e-6, rounding)
    if bool(xp.any(wrong)):
        complain(weight_name, wrong if weights.ndim > 1 else wrong[0], "does not sum to 1")
    # a slice of weights that were made to sum to 1 stays as it is
    weights = xp.where(xp.abs(total - 1) <= rounding, weights, weights / total)
    weights, locs, scales = xp.broadcast_arrays(weights, locs, scales)
    return weights, locs, scales
