"""What the weights of calibration rows mean: which law a new row gets, and what is promised."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import Array, floats, largest_tie_of, refuse, to_numpy
from calibrant._types import ArrayLike
from calibrant.distributions.base import Distribution
from calibrant.distributions.piecewise_linear import PiecewiseLinear
from calibrant.distributions.randomised import Unrealised
from calibrant.distributions.reweighted import Reweighted
from calibrant.guarantee import WeightedGuarantee
from calibrant.guarantee.marginal import Accurate

Numbers = NDArray[np.float64]


def _total(w: Numbers) -> float:
    """The sum, which is the same in any order of the rows."""
    return float(np.sum(np.sort(w)))


@dataclass(frozen=True, eq=False)
class CalibrationWeights:
    """Weights of the calibration rows, at least 0 and one of them above it. Only their proportions matter.

    In the unit w0 = sum of w^2 / sum of w they sum to N = (sum of w)^2 / sum of w^2, the number of equal rows that
    these are worth, and a typical row weighs 1.
    """

    values: Numbers
    promises: ClassVar[type[WeightedGuarantee]] = WeightedGuarantee

    def __post_init__(self) -> None:
        values = to_numpy(floats("weights", self.values, ndim=1)).astype(np.float64)
        refuse("weights", values < 0, "is negative")
        if values.size and not values.max() > 0:
            raise ValueError(f"weights must not all be zero, got {values.size} zeros")
        object.__setattr__(self, "values", values)

    def __len__(self) -> int:
        return len(self.values)

    def filter(self, there: NDArray[np.bool_]) -> CalibrationWeights:
        """Those of some rows, as a table's columns have it."""
        return replace(self, values=self.values[there])

    @property
    def unit(self) -> float:
        """w0: what counts as 1."""
        largest = self.values.max()
        w = self.values / largest  # exactly 1 where all are equal, whatever they are equal to
        return float(largest * (_total(w**2) / _total(w)))

    @property
    def in_units(self) -> Numbers:
        """The weights in the unit w0."""
        w = self.values / self.values.max()
        return np.asarray(w / (_total(w**2) / _total(w)))

    @property
    def missing(self) -> float:
        """The share of the scores that are known only to be above all others: none."""
        return 0.0

    def guarantee(self, interpolator: Accurate, scores: Array) -> WeightedGuarantee:
        """What is promised; rows of weight 0 do not count."""
        w = self.in_units
        counts = np.flatnonzero(w > 0)
        N = _total(w)
        share = _total(w / N * (w.max() / (N + w)))  # the new row is like row i with probability w_i / N
        tie = largest_tie_of(np.asarray(to_numpy(scores))[counts])
        promised = self.promises(counts.size, 0.0, tie, effective=N, largest_share=share)
        return replace(promised, accuracy=float(interpolator.accuracy(promised.worth)))

    def law(self, q: Distribution, total: float, low: float, high: float) -> Distribution:
        """q, or what gives each row its own; below the level `low` and above `high` lie its tails."""
        del total, low, high
        return q

    def unrealised(self, atoms: PiecewiseLinear, lower: float, upper: float, total: float) -> Distribution:
        """Random's q."""
        return Unrealised(atoms, lower, upper, total, None)


@dataclass(frozen=True, eq=False)
class Ratios(CalibrationWeights):
    """Likelihood ratios w(x) = p_new(x) / p_cal(x), known up to a factor: new rows say theirs too."""

    def law(self, q: Distribution, total: float, low: float, high: float) -> Distribution:
        """q_x = (1 - p_x) F_w + p_x tails."""
        return Reweighted(q, self.unit, total, low, high)

    def unrealised(self, atoms: PiecewiseLinear, lower: float, upper: float, total: float) -> Distribution:
        """Random's q."""
        return Unrealised(atoms, lower, upper, total, self.unit)


def as_weights(value: Any) -> CalibrationWeights:
    """Weights as they are; numbers as likelihood ratios."""
    return value if isinstance(value, CalibrationWeights) else Ratios(value)


Weights = ArrayLike | CalibrationWeights | None
"""What calibration rows count: likelihood ratios as an array, or weights whose type says what they mean."""
