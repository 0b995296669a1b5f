"""Charts: the increasing map y -> s that a score lays over the real line for each row of a prediction.

A score is a rule that makes a chart of a prediction; H[x] is q pulled back through the chart of f(x). Charts know their
own shape: a straight line pulls q back to a location-scale law, a broken line to a law with exact integrals,
and the rest to one with quadrature. Arguments follow the convention of `Distribution`: (n, k) against n rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, cast

import numpy as np

from calibrant._arrays import Array, clip, concatenate, namespace
from calibrant._batch import first_array
from calibrant._roots import solve_increasing
from calibrant._search import count_up_to, gather
from calibrant.distributions.base import Distribution, logit_cdf, logit_cdf_and_log_slope
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.mixture import Mixture
from calibrant.distributions.pullback import PiecewisePullBack, PullBack


class Chart(ABC):
    """An increasing map of the real line for each row."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """(n,) for one map a row, () for a single map."""

    @abstractmethod
    def __call__(self, y: Array) -> Array:
        """The score of y."""

    @abstractmethod
    def inverse(self, s: Array) -> Array:
        """The y whose score is s."""

    @abstractmethod
    def log_slope(self, y: Array) -> Array:
        """The log derivative of the score in y."""

    def pull(self, q: Distribution) -> Distribution:
        """The law of inverse(S), S ~ q, as this kind of map gives it."""
        return PullBack(self, q)

    def pull_back(self, q: Distribution) -> Distribution:
        """The law of inverse(S), S ~ q; q has the first word, since a randomised one pulls back in parts."""
        return q._pulled(self)

    def breaks(self) -> Array:
        """The y at which the map of a single row bends; None where it is smooth."""
        return None

    def grid(self) -> Array:
        """Scores between which the inverse is as good as a polynomial; none where the law of the scores decides."""
        return np.zeros(0)

    def times(self, weight: float) -> Chart:
        """The map weight * s(y)."""
        return SumChart((self,), (weight,))

    def terms(self) -> tuple[tuple[Chart, float], ...]:
        """The weighted maps this one is a sum of."""
        return ((self, 1.0),)

    @property
    def range(self) -> tuple[float, float]:
        """The scores it can take."""
        return -float("inf"), float("inf")

    @property
    def _like(self) -> Array:
        return first_array(self)

    def _lift(self, parameter: Array) -> Array:
        return parameter[:, None, ...] if self.shape else parameter


@dataclass(frozen=True, eq=False)
class Affine(Chart):
    """s = (y - loc) / scale."""

    loc: Array
    scale: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.loc.shape)

    def __call__(self, y: Array) -> Array:
        return (y - self._lift(self.loc)) / self._lift(self.scale)

    def inverse(self, s: Array) -> Array:
        return self._lift(self.loc) + self._lift(self.scale) * s

    def log_slope(self, y: Array) -> Array:
        xp = namespace(y)
        return xp.zeros_like(y) - xp.log(self._lift(self.scale))

    def pull(self, q: Distribution) -> Distribution:
        return LocationScale(self.loc, self.scale, q)

    def times(self, weight: float) -> Chart:
        # the zero of s stays where it is: only the slope changes
        return Affine(self.loc, self.scale / weight)


@dataclass(frozen=True, eq=False)
class BrokenLine(Chart):
    """s runs straight through (values[i, k], levels[i, k]), k = 1..K, and on outside with its first and last slope.

    `levels` has shape (1, K) where all rows share them, `slopes` is (n, K + 1).
    """

    values: Array
    levels: Array
    slopes: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.values.shape[:-1])

    def _piece(self, table: Array, argument: Array) -> Array:
        """How many of a row's knots lie at or below the argument: 0..K."""
        rows = self.values.shape[0]
        return count_up_to(table, namespace(argument).broadcast_to(argument, (rows, argument.shape[-1])))

    def __call__(self, y: Array) -> Array:
        levels, values, slope = self._line(self.values, y)
        return levels + slope * (y - values)

    def inverse(self, s: Array) -> Array:
        levels, values, slope = self._line(self.levels, s)
        return values + (s - levels) / slope

    def log_slope(self, y: Array) -> Array:
        return namespace(y).log(self._line(self.values, y)[2])

    def _line(self, table: Array, argument: Array) -> tuple[Array, Array, Array]:
        """The piece around each argument: a point on it, as level and value, and its slope."""
        j = self._piece(table, argument)
        a = clip(j - 1, 0, self.values.shape[-1] - 1)
        return gather(self.levels, a), gather(self.values, a), gather(self.slopes, j)

    def pull(self, q: Distribution) -> Distribution:
        return PiecewisePullBack(self, q)

    def times(self, weight: float) -> Chart:
        return BrokenLine(self.values, weight * self.levels, weight * self.slopes)


@dataclass(frozen=True, eq=False)
class LogitCDF(Chart):
    """s = logit F(y): the cdf score, in a form that does not saturate.

    In a sum of scores it stands for weight * F(y).
    """

    law: Distribution
    weight: float = field(default=1.0, metadata={"shared": True})

    @property
    def shape(self) -> tuple[int, ...]:
        return self.law.shape

    def __call__(self, y: Array) -> Array:
        return logit_cdf(self.law, y)

    def inverse(self, s: Array) -> Array:
        return self.law._ppf_logit(s)

    def log_slope(self, y: Array) -> Array:
        return logit_cdf_and_log_slope(self.law, y)[1]

    def pull(self, q: Distribution) -> Distribution:
        return self.law._recalibrated(q)

    def breaks(self) -> Array:
        return self.law._breaks()

    def grid(self) -> Array:
        return np.concatenate([np.arange(-36, 37) / 3, np.arange(-24.0, -12.0), np.arange(13.0, 25.0)])

    def times(self, weight: float) -> Chart:
        return SumChart((CDF(self.law),), (weight * self.weight,))


@dataclass(frozen=True, eq=False)
class CDF(Chart):
    """s = F(y) itself: how the cdf score enters a sum with scores of another kind."""

    law: Distribution

    @property
    def shape(self) -> tuple[int, ...]:
        return self.law.shape

    @property
    def range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def __call__(self, y: Array) -> Array:
        return self.law._cdf(y)

    def inverse(self, s: Array) -> Array:
        return self.law._ppf(clip(s, 0.0, 1.0))

    def log_slope(self, y: Array) -> Array:
        return self.law._logpdf(y)


@dataclass(frozen=True, eq=False)
class Monotone(Chart):
    """Any increasing map, given by three functions of (prediction, y or s), with one value a row."""

    prediction: Any
    score: Callable[[Any, Array], Array]
    unscore: Callable[[Any, Array], Array]
    slope: Callable[[Any, Array], Array]

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.prediction),)

    def __call__(self, y: Array) -> Array:
        return self._columnwise(self.score, y)

    def inverse(self, s: Array) -> Array:
        return self._columnwise(self.unscore, s)

    def log_slope(self, y: Array) -> Array:
        return self._columnwise(self.slope, y)

    def _columnwise(self, function: Callable[[Any, Array], Array], argument: Array) -> Array:
        """The function of (n, k) values, from one of a value a row: each row of the prediction is repeated k times."""
        xp = namespace(argument)
        rows, columns = len(self.prediction), argument.shape[1]
        flat = xp.reshape(xp.broadcast_to(argument, (rows, columns)), (-1,))
        repeated = self.prediction[np.repeat(np.arange(rows), columns)] if columns != 1 else self.prediction
        with np.errstate(all="ignore"):  # at the ends of its range a score may be infinite
            return xp.reshape(function(repeated, flat), (rows, columns))


@dataclass(frozen=True, eq=False)
class SumChart(Chart):
    """s = sum of weight * chart(y): a weighted sum of increasing maps, inverted by safeguarded Newton steps."""

    charts: tuple[Chart, ...]
    weights: tuple[float, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.charts[0].shape

    def __call__(self, y: Array) -> Array:
        return reduce(lambda a, b: a + b, (w * c(y) for c, w in zip(self.charts, self.weights, strict=True)))

    def inverse(self, s: Array) -> Array:
        # At min and max over the charts of inverse(their share of s) the sum is at most and at least s; a chart of
        # bounded range has no share of its own, it only moves s by its bounds.
        free = [(c, w) for c, w in self.terms() if c.range[1] == float("inf")]
        bound = [(c, w) for c, w in self.terms() if c.range[1] < float("inf")]
        if not free:
            raise ValueError("a sum of bounded scores has no inverse on the whole line")
        xp, total = namespace(s), sum(w for _, w in free)
        least, most = (sum(w * c.range[end] for c, w in bound) for end in (0, 1))
        low = reduce(xp.minimum, (c.inverse((s - most) / total) for c, _ in free))
        high = reduce(xp.maximum, (c.inverse((s - least) / total) for c, _ in free))
        sure = xp.isfinite(s) & xp.isfinite(low) & xp.isfinite(high)
        held = [xp.where(sure, part, xp.zeros_like(low)) for part in (s, low, high)]
        root = solve_increasing(lambda y: (self(y), self.log_slope(y)), *held)
        return xp.where(sure, root, xp.where(s > 0, xp.full_like(root, xp.inf), xp.full_like(root, -xp.inf)))

    def log_slope(self, y: Array) -> Array:
        xp = namespace(y)
        return xp.log(reduce(lambda a, b: a + b, (w * xp.exp(c.log_slope(y)) for c, w in self.terms())))

    def terms(self) -> tuple[tuple[Chart, float], ...]:
        return tuple(zip(self.charts, self.weights, strict=True))

    def times(self, weight: float) -> Chart:
        return SumChart(self.charts, tuple(weight * w for w in self.weights))


def combine(charts: Sequence[Chart], weights: Sequence[float]) -> Chart:
    """The chart of the weighted sum of scores: a line if all are lines, a broken line if all are lines or broken ones.

    Scores that are CDFs sum to a multiple of the CDF of the pooled law, so they become its cdf score.
    """
    if all(isinstance(chart, LogitCDF) for chart in charts):
        cdfs = cast(Sequence[LogitCDF], charts)
        shares = [weight * chart.weight for chart, weight in zip(cdfs, weights, strict=True)]
        total = sum(shares)
        pooled = Mixture(tuple(chart.law for chart in cdfs), tuple(share / total for share in shares))
        return LogitCDF(pooled, total)
    weighted = [chart.times(weight) for chart, weight in zip(charts, weights, strict=True)]
    if all(isinstance(chart, Affine) for chart in weighted):
        return _sum_of_lines(weighted)  # type: ignore[arg-type]
    if all(isinstance(chart, (Affine, BrokenLine)) for chart in weighted):
        return _sum_of_broken_lines(weighted)
    terms = [term for chart in weighted for term in chart.terms()]
    return SumChart(tuple(c for c, _ in terms), tuple(w for _, w in terms))


def _sum_of_lines(lines: Sequence[Affine]) -> Affine:
    """scale = 1 / sum(1 / s_k), loc = scale * sum(m_k / s_k)."""
    scale = 1 / reduce(lambda a, b: a + b, (1 / line.scale for line in lines))
    # measured from the first line's loc, so that a common large loc does not cancel
    origin = lines[0].loc
    shift = reduce(lambda a, b: a + b, ((line.loc - origin) / line.scale for line in lines))
    return Affine(origin + scale * shift, scale)


def _sum_of_broken_lines(charts: Sequence[Chart]) -> BrokenLine:
    """The broken line with the knots of all: its levels are the sums of the levels there."""
    xp = namespace(charts[0]._like)
    knots = xp.sort(concatenate([chart.values for chart in charts if isinstance(chart, BrokenLine)], axis=1), axis=1)
    levels = reduce(lambda a, b: a + b, (chart(knots) for chart in charts))
    ends = [_outer_slopes(chart) for chart in charts]
    first = reduce(lambda a, b: a + b, (low for low, _ in ends))
    last = reduce(lambda a, b: a + b, (high for _, high in ends))
    width = knots[:, 1:] - knots[:, :-1]
    wide = width > 0
    inner = (levels[:, 1:] - levels[:, :-1]) / xp.where(wide, width, xp.ones_like(width))
    inner = xp.where(wide & (inner > 0), inner, xp.broadcast_to(first[:, None], inner.shape))
    return BrokenLine(knots, levels, concatenate([first[:, None], inner, last[:, None]], axis=1))


def _outer_slopes(chart: Chart) -> tuple[Array, Array]:
    if isinstance(chart, BrokenLine):
        return chart.slopes[:, 0], chart.slopes[:, -1]
    assert isinstance(chart, Affine)
    return 1 / chart.scale, 1 / chart.scale
