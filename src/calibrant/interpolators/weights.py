"""Calibration scores in order, and what their weights mean: their levels, and what is promised."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from calibrant._arguments import same_length
from calibrant._arrays import Array, Rng, device_like, floats, largest_tie_of, namespace, ranks, refuse, rows, to_numpy
from calibrant._types import ArrayLike, RowIndex
from calibrant.distributions.base import Distribution
from calibrant.distributions.bent import Reweighted
from calibrant.guarantee import Accurate, Basis, Guarantee
from calibrant.interpolators.base import Interpolator
from calibrant.interpolators.support import REAL_LINE, Line, Support

Numbers = NDArray[np.float64]


def _total(w: Numbers) -> float:
    """The sum, which is the same in any order of the rows."""
    return float(np.sum(np.sort(w)))


@dataclass(frozen=True, eq=False)
class CalibrationWeights:
    """Weights of the calibration rows, at least 0 and one of them above it. Only their proportions matter.

    In the unit w0 = sum of w^2 / sum of w they sum to N = (sum of w)^2 / sum of w^2, the effective number of rows, and
    a typical row weighs 1.
    """

    values: Numbers
    missing: ClassVar[float] = 0.0
    """The share of the scores that are known only to be above all others."""
    basis: ClassVar[Basis] = "weighted"
    """Why rows so weighted tell something about new ones, see `Guarantee.basis`."""
    by_row: ClassVar[bool] = False
    """Whether new rows have weights too, and with them distributions of their own."""

    def __post_init__(self) -> None:
        values = to_numpy(floats("weights", self.values, ndim=1)).astype(np.float64)
        refuse("weights", values < 0, "is negative")
        if values.size and not values.max() > 0:
            raise ValueError(f"weights must not all be zero, got {values.size} zeros")
        object.__setattr__(self, "values", values)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: RowIndex) -> CalibrationWeights:
        """Those of some rows."""
        return replace(self, values=np.asarray(rows(self.values, index), np.float64))

    @property
    def unit(self) -> float:
        """w0: what counts as 1."""
        w = self.values / self.values.max()  # exactly 1 where all are equal, whatever they are equal to
        return float(self.values.max() * (_total(w**2) / _total(w)))

    def guarantee(self, interpolator: Accurate, scores: Array) -> Guarantee:
        """What is promised; rows of weight 0 do not count.

        Args:
            interpolator: What made q of the scores.
            scores: The calibration scores, an array of n numbers.
        """
        w, counts = self.values / self.unit, np.flatnonzero(self.values)
        N, tie = _total(w), largest_tie_of(to_numpy(scores)[counts])
        accuracy = float(interpolator.accuracy(max(1, int(N))))
        bound = 1.0  # nothing is claimed
        if self.basis == "weighted":
            share = _total(w / N * (w.max() / (N + w)))  # the new row is like row i with probability w_i / N
            bound = 0.0 if accuracy == -1 else share + accuracy / (N + 1)
        return Guarantee(counts.size, accuracy, tie, basis=self.basis, effective_n=N, bound=bound)


@dataclass(frozen=True, eq=False)
class Ratios(CalibrationWeights):
    """Likelihood ratios w(x) = p_new(x) / p_cal(x), known up to a factor: new rows say theirs too."""

    by_row: ClassVar[bool] = True


@dataclass(frozen=True, eq=False)
class OncePerGroup(CalibrationWeights):
    """1 / m for each of the m calibration rows of a group: every group counts once, and a new one as much as they.

    A row of a new group has a score like a row, drawn at random, of a group drawn at random among all G + 1. So the
    levels are shares of G + 1, and the bound is (1 + lambda) / (G + 1).
    """

    basis: ClassVar[Basis] = "new group"

    @classmethod
    def of(cls, groups: Any) -> OncePerGroup:
        """The weights of rows with these groups.

        Args:
            groups: The group of each row.
        """
        _, place, sizes = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
        return cls(1 / sizes[place])

    @property
    def unit(self) -> float:
        """1: the weights of a group."""
        return 1.0

    def guarantee(self, interpolator: Accurate, scores: Array) -> Guarantee:
        """That of as many scores as there are groups.

        Args:
            interpolator: What made q of the scores.
            scores: The calibration scores, an array of n numbers.
        """
        groups = max(1, round(_total(self.values)))
        # a uniform fills the jumps of q, not the place of a row within its group
        accuracy = max(0.0, float(interpolator.accuracy(groups)))
        return Guarantee(groups, accuracy, min(groups, largest_tie_of(to_numpy(scores))), basis=self.basis)


def as_weights(value: Any) -> CalibrationWeights:
    """Weights as they are; numbers as likelihood ratios."""
    return value if isinstance(value, CalibrationWeights) else Ratios(value)


Weights = ArrayLike | CalibrationWeights | None
"""The weights of calibration rows: likelihood ratios as an array, or weights whose type says what they mean."""


@dataclass(frozen=True, eq=False)
class InOrder:
    """n scores in increasing order; if weighted, those of positive weight, in the unit of `CalibrationWeights`."""

    scores: Array
    support: Support = REAL_LINE
    weights: Numbers | None = None
    total: float = 0.0
    """N: the number of scores, or the effective number of weighted ones; what is missing counts too."""
    unit: float | None = None
    """The weight, as it was given, that counts as 1, where new rows have weights too."""

    def levels(self, moved: float = 0.0) -> Array:
        """(i + moved) / (n + 1), not i / n: the test score is the (n + 1)-th. Half of each weight is on each side."""
        if self.weights is None:
            return (ranks(self.scores) + moved) / (self.total + 1)
        below = np.cumsum(self.weights) - self.weights / 2
        return device_like((below + 0.5 + moved) / (self.total + 1), self.scores)

    def by_row(self, q: Distribution, low: float, high: float) -> Distribution:
        """q; or (1 - p_x) q + p_x tails, where rows have weights: below the level `low` and above `high` lie tails."""
        return q if self.unit is None else Reweighted(q, self.unit, self.total, low, high)


def in_order(scores: Any, weights: Any = None, support: Any = REAL_LINE) -> InOrder:
    """The scores in increasing order, finite, at least one, inside the support; and their weights, if any."""
    scores = floats("scores", scores, ndim=1)
    support = Line(*support) if isinstance(support, tuple) else support
    n = scores.shape[0]
    if n == 0:
        raise ValueError("calibration needs at least one score, got none")
    support.check(scores)
    xp = namespace(scores)
    if weights is None:
        return InOrder(xp.sort(scores), support, total=float(n))
    weights = as_weights(weights)
    same_length("scores", n, "weights", len(weights))
    order = np.lexsort((weights.values, to_numpy(scores)))  # ties by weight: the order of the rows does not count
    order = order[weights.values[order] > 0]  # a score without weight says nothing
    w, unit = weights.values[order] / weights.unit, weights.unit if weights.by_row else None
    total = float(np.cumsum(w)[-1]) / (1 - weights.missing)  # as `levels` sums, so that none is above 1
    return InOrder(xp.take(scores, xp.asarray(order, device=device(scores)), axis=0), support, w, total, unit)


class OfOrdered(Interpolator):
    """An interpolator of scores in order, which may have weights; it draws nothing when it is fitted."""

    def fit(
        self, scores: Array, *, weights: Weights = None, support: Support = REAL_LINE, rng: Rng = None
    ) -> Distribution:
        """The distribution q of the scores.

        Args:
            scores: The calibration scores, an array of n numbers.
            weights: Likelihood ratios p_new(x) / p_old(x) of the calibration rows; a common factor cancels.
            support: The interval in which scores can lie; the real line by default.
            rng: Not used: nothing is drawn.
        """
        return self.through(in_order(scores, weights, support))

    @abstractmethod
    def through(self, known: InOrder) -> Distribution:
        """The distribution q of scores in order.

        Args:
            known: The scores, with their weights and where they can lie.
        """
