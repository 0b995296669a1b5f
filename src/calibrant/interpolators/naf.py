"""Interpolation by a neural autoregressive flow."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from calibrant._arrays import Array, anywhere, clip, concatenate, namespace, to_numpy
from calibrant.distributions.base import Distribution
from calibrant.distributions.logistic_linear import Guarded, LogisticLinear
from calibrant.distributions.logit_spline import LogitSpline
from calibrant.distributions.mixture import Mixture
from calibrant.distributions.own_logit import OwnLogit
from calibrant.interpolators.linear import Linear
from calibrant.interpolators.naf_fit import fit_logistic_mixture
from calibrant.interpolators.weights import InOrder, OfOrdered


def default_accuracy(n: int) -> float:
    """sqrt(n) / 2: of the order of the sampling noise of the ranks, so that it costs q no smoothness.

    Args:
        n: The number of calibration rows.
    """
    return math.sqrt(n) / 2


@dataclass(frozen=True)
class Promised:
    """n -> accuracy, whatever n is: what a promise said when it was saved."""

    accuracy: float

    def __call__(self, n: int) -> float:
        """The lambda that was promised."""
        del n
        return self.accuracy


@dataclass(frozen=True)
class NAF(OfOrdered):
    """q(u) = sum of w_k sigmoid((u - m_k) / t_k), a one-layer neural autoregressive flow: as smooth as can be.

    Fitted once, without randomness; its logit is then stored as a cubic spline through some thousand points (F is off
    by less than 1e-7), which is as quick as a broken line to evaluate, invert and integrate. The lambda guard clips it
    to its `accuracy` lambda (n -> sqrt(n)/2 by default). A smaller lambda is a stronger promise and a rougher density.
    """

    units: int = 200
    promise: Callable[[int], float] = field(default=default_accuracy, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.units, (int, np.integer)):
            raise TypeError(f"NAF.units must be a whole number, got {self.units!r}")
        if self.units < 2:
            raise ValueError(f"NAF.units must be at least 2, got {self.units}")

    def through(self, known: InOrder) -> Distribution:
        """The mixture fitted to the scores, under guard."""
        ordered = known.scores
        if bool(ordered[0] == ordered[-1]):  # without a scale; Linear warns of it
            return Linear().through(known)
        mixture = fit_logistic_mixture(to_numpy(ordered).astype(np.float64), self.units, known.weights)
        return self.guarded(LogitSpline.of_mixture(*mixture, like=ordered), known)

    def guarded(self, distribution: Distribution, known: InOrder) -> Distribution:
        """A smooth distribution of all scores, under guard.

        Args:
            distribution: The smooth distribution.
            known: The scores in order.
        """
        q = guard(distribution, known, self.accuracy(max(1, int(known.total))))
        end = 0.5 / (known.total + 1)  # the new row's own mass, half at each end
        return known.by_row(known.support.bounded(q), end, 1 - end)

    def accuracy(self, n: int) -> float:
        """The lambda that the guard enforces."""
        promised = float(self.promise(n))
        if not promised >= 0:  # -1 means a randomised q, which is exact
            raise ValueError(f"NAF.promise must give a lambda of at least 0, got {promised} for n = {n}")
        return promised


def guard(distribution: Distribution, known: InOrder, accuracy: float) -> Distribution:
    """With q(u_(i)) clipped into (i +- lambda) / (n + 1) at the sorted scores; as it is if it lies there already.

    Weighted scores have levels of their own, and n is their effective number. Where distinct scores round to the same
    probability, a thousandth of linear interpolation is mixed in first, which tells them apart.
    """
    scores, xp = known.scores, namespace(known.scores)
    at, logits = distribution.cdf(scores), OwnLogit(distribution)(scores)
    tied = _rises(scores) & ~(_rises(at) & _rises(logits))
    if anywhere(tied) or at[0] <= 0 or at[-1] >= 1:
        distribution = Mixture((distribution, Linear().fit(scores)), (0.999, 0.001))
        at, logits = distribution.cdf(scores), OwnLogit(distribution)(scores)
    low, high = known.levels(-accuracy), known.levels(accuracy)
    if known.weights is not None:  # no weighted score lies in the mass of the new row, of which half is at each end
        end = 0.5 / (known.total + 1)
        low, high = clip(low, end, 1.0), clip(high, 0.0, 1 - end)
    clipped = xp.minimum(xp.maximum(at, low), high)
    moved = clipped != at
    if not anywhere(moved):
        return distribution
    # a knot stays only where the line bends: at a clipped score and at its neighbours
    edge = moved[:1] & False
    near = moved | concatenate([moved[1:], edge]) | concatenate([edge, moved[:-1]])
    return Guarded(OwnLogit(distribution), LogisticLinear(logits[near], clipped[near]))


def _rises(column: Array) -> Array:
    return column[1:] > column[:-1]
