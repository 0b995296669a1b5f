"""Interpolation by a neural autoregressive flow."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from calibrant._arrays import Array, Rng, to_numpy
from calibrant.distributions.base import Distribution
from calibrant.distributions.logit_spline import LogitSpline
from calibrant.interpolators.guard import guard
from calibrant.interpolators.linear import Linear
from calibrant.interpolators.naf_fit import fit_logistic_mixture
from calibrant.interpolators.support import REAL_LINE, Support
from calibrant.interpolators.weights import InOrder, Weights, in_order


def default_accuracy(n: int) -> float:
    """sqrt(n) / 2: of the order of the sampling noise of the ranks, so that it costs q no smoothness.

    Args:
        n: The number of calibration rows.
    """
    return math.sqrt(n) / 2


@dataclass(frozen=True)
class NAF:
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

    def fit(
        self, scores: Array, *, weights: Weights = None, support: Support = REAL_LINE, rng: Rng = None
    ) -> Distribution:
        """The mixture fitted to the scores, under guard.

        Args:
            scores: The calibration scores, an array of n numbers.
            weights: Likelihood ratios p_new(x) / p(x) of the calibration rows, up to a factor, one number each.
            support: The interval in which scores can lie; the real line by default.
            rng: A `numpy.random.Generator`, for what is drawn; a fresh one by default.
        """
        known = in_order(scores, weights, support)
        ordered = known.scores
        if bool(ordered[0] == ordered[-1]):  # without a scale; Linear warns of it
            return Linear().fit(scores, weights=weights, support=support)
        mixture = fit_logistic_mixture(to_numpy(ordered).astype(np.float64), self.units, known.weights)
        return self._guarded(LogitSpline.of_mixture(*mixture, like=ordered), known)

    def guarded(self, distribution: Distribution, scores: Array, *, support: Support = REAL_LINE) -> Distribution:
        """A smooth distribution of the scores that was found before, under guard.

        Args:
            distribution: The smooth distribution, of all scores.
            scores: The calibration scores, an array of n numbers.
            support: The interval in which scores can lie; the real line by default.
        """
        return self._guarded(distribution, in_order(scores, None, support))

    def _guarded(self, distribution: Distribution, known: InOrder) -> Distribution:
        q = guard(distribution, known.scores, self.accuracy(max(1, int(known.total))), known)
        end = 0.5 / (known.total + 1)  # the new row's own mass, half at each end
        return known.by_row(known.support.bounded(q), end, 1 - end)

    def accuracy(self, n: int) -> float:
        """The lambda that the guard enforces.

        Args:
            n: The number of scores.
        """
        promised = float(self.promise(n))
        if not promised >= 0:  # -1 stands for a randomised q, which is exact
            raise ValueError(f"NAF.promise must give a lambda of at least 0, got {promised} for n = {n}")
        return promised
