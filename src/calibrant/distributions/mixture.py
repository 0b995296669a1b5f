"""Mixtures: the pool of several forecasts, and normal distributions with weights of their own in each row."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, cast

import array_api_compat
import numpy as np

from calibrant._arguments import keep, same_length
from calibrant._arrays import (
    Array,
    anywhere,
    concatenate,
    detached,
    device_like,
    floats,
    namespace,
    refuse,
    single_precision,
)
from calibrant._batch import shared
from calibrant._search import newton_step, solve_increasing
from calibrant._special import log_sigmoid, logit, safe_log, safe_sqrt, sigmoid
from calibrant._types import ArrayLike
from calibrant.distributions.base import ByLogit, ClosedMoments, Distribution, Moments, far_logit, log_density
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.standard_families import StandardNormal
from calibrant.distributions.table import ONCE, PLACES, SQUARE, MassTable, side_by_side

_STEPS = 100  # halvings at most
_MEMBER = 129  # places of a component's table where only differences matter
_WHOLE = 257  # and of one that is merged into the table of the mixture


class _Pool(Distribution):
    """F(y) = sum of weight * part.cdf(y), the weights numbers, or columns with one for each row."""

    @property
    @abstractmethod
    def _parts(self) -> list[tuple[Any, Distribution]]:
        """The weights and the distributions."""

    def _sum(self, ask: Callable[[Distribution], Array]) -> Array:
        return _added(w * ask(part) for w, part in self._parts)

    def _log_sum(self, logs: Iterable[Array]) -> Array:
        """The log of the sum of weight * exp(log), by the largest of them, so that none vanishes."""
        weights = (w for w, _ in self._parts)
        terms = [
            (float(np.log(w)) if isinstance(w, float) else safe_log(w)) + log
            for w, log in zip(weights, logs, strict=True)
        ]
        xp = namespace(terms[0])
        top = detached(reduce(xp.maximum, terms))
        top = xp.where(xp.isfinite(top), top, 0.0)
        return safe_log(_added(xp.exp(term - top) for term in terms)) + top

    def _cdf(self, y: Array) -> Array:
        return self._sum(lambda part: part._cdf(y))

    def _sf(self, y: Array) -> Array:
        return self._sum(lambda part: part._sf(y))

    def _cdf_left(self, y: Array) -> Array:
        return self._sum(lambda part: part._cdf_left(y))

    def _logpdf(self, y: Array) -> Array:
        return self._log_sum(log_density(part, y, self.lattice) for _, part in self._parts)

    def _logit(self, y: Array) -> tuple[Array, Array]:
        def tails(at: Array) -> list[Array]:
            logits = [part._logit(at)[0] for _, part in self._parts]
            return [self._log_sum(log_sigmoid(sign * each) for each in logits) for sign in (1, -1)]

        return far_logit(self, y, tails)

    def _integrals(self, y: Array, which: int) -> Array:
        if which == SQUARE:
            return super()._integrals(y, which)
        return self._sum(lambda part: part._integrals(y, which))

    def _bracket(self, name: str, level: Array) -> tuple[Array, Array]:
        """The least and the largest of the quantiles of the parts, by `_ppf` or `_ppf_logit`."""
        ends, xp = [getattr(part, name)(level) for _, part in self._parts], namespace(level)
        return detached(reduce(xp.minimum, ends)), detached(reduce(xp.maximum, ends))

    def _places(self, s: Array) -> Array:
        """Those of every part, for fewer levels."""
        parts, last = self._parts, s.shape[1] - 1
        step = len(parts)
        few = concatenate([s[:, ::step], s[:, last:]], axis=1) if last % step else s[:, ::step]
        return namespace(s).sort(side_by_side([part._places(few) for _, part in parts]), axis=1)


@dataclass(frozen=True, eq=False, repr=False)
class Mixture(ClosedMoments, _Pool):
    """F(y) = sum of weights[k] * components[k].cdf(y): a draw from a component drawn at random.

    Mean and std are the components' own. Quantiles are found by halving between the components'. The crps is the mean
    of the components' less the integral of the variance of their CDFs, from the components' tables, merged.

    >>> from calibrant import Normal
    >>> Mixture([Normal([0.0], 1.0), Normal([4.0], 1.0)], [0.25, 0.75]).mean()
    array([3.])
    """

    components: tuple[Distribution, ...]
    weights: tuple[float, ...] = shared()

    def __post_init__(self) -> None:
        components = tuple(self.components)
        if not components or not all(isinstance(part, Distribution) for part in components):
            raise TypeError(f"Mixture.components must be distributions, at least one, got {self.components!r}")
        for k, part in enumerate(components):
            if part.shape != components[0].shape:
                shapes = f"{components[0].shape} and {part.shape}"
                raise ValueError(f"Mixture.components[{k}] must have the shape of the first, got {shapes}")
        weights = tuple(float(weight) for weight in floats("Mixture.weights", self.weights, ndim=1))
        same_length("Mixture.components", len(components), "Mixture.weights", len(weights))
        if min(weights) < 0 or abs(sum(weights) - 1) > 1e-6:
            raise ValueError(f"Mixture.weights must be at least 0 and sum to 1, got {list(weights)}")
        keep(self, components=components, weights=weights)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.components[0].shape

    @property
    def _parts(self) -> list[tuple[float, Distribution]]:
        """Without those of no weight."""
        return [(w, part) for w, part in zip(self.weights, self.components, strict=True) if w > 0]

    @property
    def lattice(self) -> tuple[float, float] | None:
        """That of the components, if they share one."""
        first = self.components[0].lattice
        return first if all(part.lattice == first for part in self.components) else None

    # ---- quantiles -------------------------------------------------------------------------------------------------

    def _ppf(self, p: Array) -> Array:
        return self._between(self._bracket("_ppf", p), lambda y: self._cdf(y) < p, logit(p))

    def _ppf_logit(self, s: Array) -> Array:
        xp, low, high = namespace(s), sigmoid(s), sigmoid(-s)

        def short(y: Array) -> Array:
            return xp.where(s <= 0, self._cdf(y) < low, self._sf(y) > high)

        return self._between(self._bracket("_ppf_logit", s), short, s)

    def _between(self, ends: tuple[Array, Array], short: Callable[[Array], Array], s: Array) -> Array:
        """The least y, between the components' quantiles, that is not `short` of its level."""
        xp, (low, high) = namespace(s), ends
        finite = xp.isfinite(low) & xp.isfinite(high)
        a, b = (low, high) if not anywhere(~finite) else self._drawn_in(low, high)
        width, start = b - a, a
        b = xp.where(short(a), b, a)
        eps = float(xp.finfo(b.dtype).eps)
        for _ in range(_STEPS):
            wide = b - a > eps * (xp.abs(b) + 1e-3 * width)  # each value by itself, however long the others take
            if not anywhere(wide):
                break
            y = a / 2 + b / 2
            up = short(y)
            a, b = xp.where(wide & up, y, a), xp.where(wide & ~up, y, b)
        y = b
        if self.lattice is not None:  # its point next to b
            origin, step = self.lattice
            y = origin + step * xp.round((b - origin) / step)
        if anywhere(~finite):
            none = xp.isinf(low) & (b == start) & ~short(xp.full_like(b, -xp.inf))
            y = xp.where(none, low, xp.where(xp.isinf(high) & short(b), high, y))
        if array_api_compat.is_numpy_array(y):
            return y
        inside = finite & xp.isfinite(s)
        return xp.where(inside, newton_step(self._logit, s, xp.where(inside, y, 0 * width), width), y)

    def _drawn_in(self, low: Array, high: Array) -> tuple[Array, Array]:
        """The ends, where they are infinite the outermost finite quantiles of all components."""
        xp = namespace(low)
        places = self._places(device_like(np.linspace(-36, 36, 97)[None, :], low))
        a, b = (xp.where(xp.isfinite(end), end, other) for end, other in ((low, places[:, :1]), (high, places[:, -1:])))
        return (a, b) if self.shape else (xp.reshape(a, low.shape), xp.reshape(b, low.shape))

    # ---- integrals -------------------------------------------------------------------------------------------------

    def _mean_std(self) -> tuple[Array, Array]:
        """std^2 = sum of w_k (std_k^2 + (mean_k - mean)^2)."""
        own = [(w, part.mean(), part.std()) for w, part in self._parts]
        mean = _added(w * mean for w, mean, _ in own)
        xp = namespace(mean)
        with np.errstate(invalid="ignore"):
            square = _added(w * (std**2 + (each - mean) ** 2) for w, each, std in own)
        return mean, safe_sqrt(xp.where(xp.isnan(square), np.inf, square))

    def _moments(self) -> Moments:
        """The shift is the mean of the components' less the integral of the variance of their CDFs, by their tables."""
        if self._many:
            return cast(Moments, self._by_parts("_moments"))
        own = _added(w * part._all_moments.shift for w, part in self._parts)
        tables = [part._table(_MEMBER).to(self._in_double.like) for _, part in self._parts]
        weights = [w for w, _ in self._parts]
        apart = _added(w * table.inner_shift for w, table in zip(weights, tables, strict=True))
        apart = (apart - MassTable.merged(tables, weights).inner_shift)[:, 0]
        return Moments(*self._mean_std(), own - self._at_home(apart if self.shape else apart[0]))

    def _table(self, count: int) -> MassTable:
        parts = self._parts
        size = max(_WHOLE, count // 4 + 1) if count > PLACES else _WHOLE
        like = self._in_double.like
        tables = [part._table(size) for _, part in parts]
        return MassTable.merged([table.to(like) for table in tables], [w for w, _ in parts])


@dataclass(frozen=True, eq=False, repr=False)
class GaussianMixture(ByLogit, _Pool):
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

    @property
    def _parts(self) -> list[tuple[Any, Distribution]]:
        def make() -> list[tuple[Any, Distribution]]:
            columns = [[part[..., k] for part in (self.weights, self.means, self.stds)] for k in range(components)]
            return [(self._lift(w), LocationScale(m, s, StandardNormal())) for w, m, s in columns]

        components = self.means.shape[-1]
        return self.remember("_kept_parts", make)

    # ---- quantiles -------------------------------------------------------------------------------------------------

    def _ppf_logit(self, s: Array) -> Array:
        """Searched for between those of the components; in double precision, as a CDF in single precision has steps."""
        xp = namespace(s)
        if single_precision(s):
            return self._at_home(self._in_double._ppf_logit(xp.astype(s, xp.float64)))
        finite = xp.where(xp.isfinite(s), s, 0.0)
        low, high = self._bracket("_ppf_logit", finite)
        root = solve_increasing(self._logit, xp.broadcast_to(finite, low.shape), low, high)
        return xp.where(xp.isfinite(s), root, s)

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


def _added(terms: Iterable[Array]) -> Array:
    return reduce(operator.add, terms)
