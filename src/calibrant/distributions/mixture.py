"""The pool of several forecasts."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce

import array_api_compat
import numpy as np

from calibrant._arguments import same_length
from calibrant._arrays import Array, anywhere, concatenate, detached, device_like, floats, namespace
from calibrant._batch import shared
from calibrant._search import newton_step
from calibrant._special import logit, safe_log, safe_sqrt, sigmoid
from calibrant.distributions.base import ClosedMoments, Distribution, Moments, log_density
from calibrant.distributions.table import PLACES, SQUARE, MassTable, side_by_side

_STEPS = 100  # halvings at most
_MEMBER = 129  # places of a component's table where only differences matter
_WHOLE = 257  # and where it stands for itself


@dataclass(frozen=True, eq=False, repr=False)
class Mixture(ClosedMoments):
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
        object.__setattr__(self, "components", components)
        object.__setattr__(self, "weights", weights)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.components[0].shape

    @property
    def _parts(self) -> list[tuple[float, Distribution]]:
        """Without those of no weight."""
        return [(w, part) for w, part in zip(self.weights, self.components, strict=True) if w > 0]

    def _sum(self, ask: Callable[[Distribution], Array]) -> Array:
        return _added(w * ask(part) for w, part in self._parts)

    def _cdf(self, y: Array) -> Array:
        return self._sum(lambda part: part._cdf(y))

    def _sf(self, y: Array) -> Array:
        return self._sum(lambda part: part._sf(y))

    def _cdf_left(self, y: Array) -> Array:
        return self._sum(lambda part: part._cdf_left(y))

    def _logpdf(self, y: Array) -> Array:
        """By the largest of them, so that none vanishes."""
        terms = [log_density(part, y, self.lattice) + float(np.log(w)) for w, part in self._parts]
        xp = namespace(terms[0])
        top = reduce(xp.maximum, terms)
        top = xp.where(xp.isfinite(top), top, 0.0)
        return safe_log(_added(xp.exp(term - top) for term in terms)) + top

    @property
    def lattice(self) -> tuple[float, float] | None:
        """That of the components, if they share one."""
        first = self.components[0].lattice
        return first if all(part.lattice == first for part in self.components) else None

    def ends(self, name: str, level: Array) -> list[Array]:
        """The quantiles of the components, by `_ppf` or `_ppf_logit`, between which that of the mixture lies.

        Args:
            name: The method of the components that gives them: `_ppf` or `_ppf_logit`.
            level: The level of the quantile, between 0 and 1.
        """
        return [getattr(part, name)(level) for _, part in self._parts]

    # ---- quantiles -------------------------------------------------------------------------------------------------

    def _ppf(self, p: Array) -> Array:
        return self._between(self.ends("_ppf", p), lambda y: self._cdf(y) < p, logit(p))

    def _ppf_logit(self, s: Array) -> Array:
        xp, low, high = namespace(s), sigmoid(s), sigmoid(-s)

        def short(y: Array) -> Array:
            return xp.where(s <= 0, self._cdf(y) < low, self._sf(y) > high)

        return self._between(self.ends("_ppf_logit", s), short, s)

    def _between(self, ends: list[Array], short: Callable[[Array], Array], s: Array) -> Array:
        """The least y, between the components' quantiles, that is not `short` of its level."""
        xp = namespace(s)
        low, high = (detached(reduce(pick, ends)) for pick in (xp.minimum, xp.maximum))
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
        if self.lattice is not None:  # its point beside b
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
        own = _added(w * part._all_moments.shift for w, part in self._parts)
        tables = [part._table(_MEMBER).to(self._in_double.like) for _, part in self._parts]
        weights = [w for w, _ in self._parts]
        apart = _added(w * table.inner_shift for w, table in zip(weights, tables, strict=True))
        apart = (apart - MassTable.merged(tables, weights).inner_shift)[:, 0]
        return Moments(*self._mean_std(), own - self._at_home(apart if self.shape else apart[0]))

    def _integrals(self, y: Array, which: int) -> Array:
        if which == SQUARE:
            return super()._integrals(y, which)
        return self._sum(lambda part: part._integrals(y, which))

    def _table(self, count: int) -> MassTable:
        parts = self._parts
        size = max(_WHOLE, count // 4 + 1) if count > PLACES else _WHOLE
        like = self._in_double.like
        tables = [part._table(size) for _, part in parts]
        return MassTable.merged([table.to(like) for table in tables], [w for w, _ in parts])

    def _places(self, s: Array) -> Array:
        """Those of every component, for fewer levels."""
        few = concatenate([s[:, :: len(self._parts)], s[:, -1:]], axis=1)
        return namespace(s).sort(side_by_side([part._places(few) for _, part in self._parts]), axis=1)

    def _describe(self) -> str:
        return f"{len(self.components)} components"


def _added(terms: Iterable[Array]) -> Array:
    return reduce(operator.add, terms)
