"""A calibration score from a non-conformity score: the construction of Theorem 2."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import Array, concatenate, device_like, namespace
from calibrant.distributions.base import Distribution, PartialMoments, Squares
from calibrant.distributions.exact_rows import ExactRows
from calibrant.distributions.pullback import Composed
from calibrant.distributions.quadrature import Table
from calibrant.predictions import as_prediction
from calibrant.scores.base import ChartScore
from calibrant.scores.charts import Chart, Monotone

if TYPE_CHECKING:
    from calibrant.intervals.nonconformity import Nonconformity


def signed(nonconformity: Nonconformity) -> SignedScore:
    """phi(f(x), y) = sign(y - m) g(a(f(x), y)), m the minimiser of a, g(v) = v + sqrt(v^2 + 1).

    g maps the line onto (0, inf) and increases strictly, so it changes no conformal interval, and phi increases
    strictly in y also where a is negative (CQR). exp would do too, but overflows at v = 710 in the unit of y.

    At m phi jumps from -g to g of the smallest a, so H has an atom at m: the mass that q puts between the
    two. With a linear q that is at most 1 / (n + 1) where all rows share the smallest a; CQR on rows of
    unequal width can have more. Where a has the unit of y, H depends on that unit a little, since g bends.

    Where a is |score - centre|, one law shared by all rows is tabulated once, and H is else as exact and as fast as
    with that score. For any other a, mean, std and crps are integrated row by row. The relative error is 1e-8 or
    less in both cases, for an a that is smooth on either side of m.

    >>> from calibrant import Calibrator
    >>> from calibrant.intervals import AbsoluteResidual
    >>> signed(AbsoluteResidual())([1.0, 1.0], [1.75, 0.25])
    array([ 2., -2.])
    >>> H = Calibrator(signed(AbsoluteResidual())).fit([1.0, 2.0, 3.0], [1.1, 1.8, 3.3])([10.0])
    >>> H.ppf(0.4)
    array([10.])
    """
    from calibrant.intervals.nonconformity import Nonconformity

    if not isinstance(nonconformity, Nonconformity):
        raise TypeError(f"signed takes a Nonconformity, got {nonconformity!r}")
    return SignedScore(nonconformity)


@dataclass(frozen=True)
class SignedScore(ChartScore):
    """sign(y - m) g(a(f(x), y)): see `signed`."""

    nonconformity: Nonconformity

    @property
    def unit_free(self) -> bool:  # type: ignore[override]
        """That of the non-conformity."""
        return self.nonconformity.unit_free

    def learn(self, prediction: Any) -> tuple[Self, NDArray[np.bool_]]:
        """What the non-conformity learns."""
        kept, mended = self.nonconformity.learn(prediction)
        return replace(self, nonconformity=kept), mended

    def chart(self, prediction: Any) -> Chart:
        """As the non-conformity has it."""
        return self.nonconformity.signed_chart(prediction)


class _Jumping(Chart):
    """A chart that jumps at one y a row; there it has the upper value, so that the CDF of H counts the atom."""

    @abstractmethod
    def from_left(self, y: Array) -> Array:
        """The limit of s from the left."""

    @abstractmethod
    def least(self) -> Array:
        """The smallest |s| in any row."""

    def pull(self, q: Distribution) -> Distribution:
        """The law with the atom."""
        return SignedPullBack(self, q)


@dataclass(frozen=True, eq=False)
class Parted(_Jumping):
    """s = sign(u - centre) g(|u - centre|), of a single number u; the inverse of [-1, 1] is the centre."""

    centre: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """()."""
        return ()

    def __call__(self, y: Array) -> Array:
        """sign(u - centre) g(|u - centre|)."""
        return self._with_sign(y, y >= self.centre)

    def from_left(self, y: Array) -> Array:
        """-1 at the centre."""
        return self._with_sign(y, y > self.centre)

    def _with_sign(self, y: Array, positive: Array) -> Array:
        size = _lifted(namespace(y).abs(y - self.centre))
        return namespace(y).where(positive, size, -size)

    def inverse(self, s: Array) -> Array:
        """centre -+ g^-1(|s|)."""
        xp = namespace(s)
        distance = _lowered(xp.clip(xp.abs(s), 1.0, None))
        return self.centre + xp.where(s < 0, -distance, distance)

    def log_slope(self, y: Array) -> Array:
        """log g'(|u - centre|)."""
        return _log_slope(namespace(y).abs(y - self.centre))

    def least(self) -> Array:
        """g(0)."""
        return namespace(self.centre).ones_like(self.centre)


@dataclass(frozen=True, eq=False)
class After(Chart):
    """s = outer(inner(y)), with one outer map for all rows."""

    inner: Chart
    outer: Chart

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the inner map."""
        return self.inner.shape

    def __call__(self, y: Array) -> Array:
        """outer(inner(y))."""
        return self.outer(self.inner(y))

    def inverse(self, s: Array) -> Array:
        """First the outer map's inverse, then the inner one's."""
        return self.inner.inverse(self.outer.inverse(s))

    def log_slope(self, y: Array) -> Array:
        """The chain rule."""
        return self.outer.log_slope(self.inner(y)) + self.inner.log_slope(y)

    def pull(self, q: Distribution) -> Distribution:
        """q pulled back through the outer map, a single law; and that through the inner one."""
        return self.inner.pull_back(self.outer.pull_back(q))


@dataclass(frozen=True)
class _End:
    """The lower or the upper end of a level set."""

    nonconformity: Nonconformity
    side: int

    def __call__(self, prediction: Any, t: Array) -> Array:
        return self.nonconformity.level_set(prediction, t)[self.side]


@dataclass(frozen=True, eq=False)
class SignedChart(_Jumping):
    """s = -g(a(y)) below the minimiser m, g(a(y)) from m on; the inverse of [-floor, floor] is m."""

    below: Monotone
    above: Monotone
    minimiser: Array
    floor: Array
    """g of the smallest a."""

    @classmethod
    def of(cls, a: Nonconformity, prediction: Any) -> SignedChart:
        """The two branches of a non-conformity, the lower one turned over."""
        prediction = as_prediction(prediction)
        minimiser = a.minimiser(prediction)
        return cls(
            Monotone(prediction, a.value, _End(a, 0), a.log_slope),
            Monotone(prediction, a.value, _End(a, 1), a.log_slope),
            minimiser,
            _lifted(a.value(prediction, minimiser)),
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """(n,)."""
        return tuple(self.minimiser.shape)

    def __call__(self, y: Array) -> Array:
        """sign(y - m) g(a(y))."""
        return self._with_sign(y, y >= self._lift(self.minimiser))

    def from_left(self, y: Array) -> Array:
        """-floor at the minimiser."""
        return self._with_sign(y, y > self._lift(self.minimiser))

    def _with_sign(self, y: Array, positive: Array) -> Array:
        # no rounding of the value may bring the two branches closer than they are at the minimiser
        size = namespace(y).maximum(_lifted(self.above(y)), self._lift(self.floor))
        return namespace(y).where(positive, size, -size)

    def inverse(self, s: Array) -> Array:
        """The lower or the upper end of the level set at g^-1(|s|)."""
        xp = namespace(s)
        m, floor = self._lift(self.minimiser), self._lift(self.floor)
        t = _lowered(xp.maximum(xp.abs(s), floor))
        lower, upper = xp.minimum(self.below.inverse(t), m), xp.maximum(self.above.inverse(t), m)
        return xp.where(s < -floor, lower, xp.where(s > floor, upper, m))

    def log_slope(self, y: Array) -> Array:
        """log |a'(y)| + log g'(a(y))."""
        return self.above.log_slope(y) + _log_slope(self.above(y))

    def least(self) -> Array:
        """The smallest floor."""
        return namespace(self.floor).min(self.floor)


@dataclass(frozen=True, eq=False, repr=False)
class SignedPullBack(Composed):
    """H(y) = q(s(y)) for a chart that jumps: an atom where it does; mean, std and crps by quadrature."""

    chart: _Jumping
    q: Distribution

    def _cdf_left(self, y: Array) -> Array:
        return self.q._cdf_left(self.chart.from_left(y))

    @cached_property
    def _integrals(self) -> Table | ExactRows:
        return ExactRows(self.chart, _Cut(self.q, self.chart)) if self.shape else Table.of(self)  # type: ignore[arg-type]

    def _partial_moments(self, y: Array) -> PartialMoments:
        return self._integrals.partial_moments(y)

    def _squares(self, y: Array) -> Squares:
        return self._integrals.squares(y)

    def _breaks(self) -> Array:
        return self.chart.inverse(_Cut(self.q, self.chart)._breaks())


@dataclass(frozen=True)
class _Cut:
    """q as the quadrature sees it, with more bends: where the chart jumps and on the way to the far scores.

    s = 0 leads every row back to its minimiser. At |s| = 1 g turns from 1 / |2 v| to 2 v, sharply where v is large
    as a number.
    """

    q: Distribution
    chart: _Jumping

    @property
    def _like(self) -> Array:
        return self.q._like

    def _breaks(self) -> Array:
        like = self.chart._like
        breaks = self.q._breaks() if self.q._like is not None else device_like(self.q._breaks(), like)
        xp = namespace(breaks)
        far = xp.abs(self.q._ppf(device_like(_LEVELS, breaks)))
        far = xp.max(xp.where(xp.isfinite(far), far, xp.zeros_like(far)))
        near = self.chart.least()
        low, high = _lowered(near), _lowered(xp.maximum(far, near))
        steps = _lifted(low + (high - low) * device_like(_STEPS, breaks))
        return xp.sort(concatenate([breaks, steps, -steps, device_like([-1.0, 0.0, 1.0], breaks)]))

    def _cdf(self, s: Array) -> Array:
        return self.q._cdf(s)

    def _ppf_logit(self, s: Array) -> Array:
        return self.q._ppf_logit(s)

    def _infinite_mass(self) -> tuple[float, float]:
        return self.q._infinite_mass()

    def _sf(self, s: Array) -> Array:
        return self.q._sf(s)


_LEVELS = np.linspace(0.02, 0.98, 25)
_STEPS = np.linspace(0, 1, 301)


def _lifted(v: Array) -> Array:
    """g(v) = v + sqrt(v^2 + 1), as 1 / (|v| + sqrt(v^2 + 1)) where v is negative, so that nothing cancels."""
    xp = namespace(v)
    size = xp.abs(v) + xp.hypot(v, xp.ones_like(v))
    return xp.where(v < 0, 1 / size, size)


def _lowered(w: Array) -> Array:
    """The v with g(v) = w, (w - 1/w) / 2."""
    return (w - 1) / 2 * (1 + 1 / w)


def _log_slope(v: Array) -> Array:
    """log g'(v), where g' = g / sqrt(v^2 + 1) and log g = asinh."""
    xp = namespace(v)
    return xp.asinh(v) - xp.log(xp.hypot(v, xp.ones_like(v)))
