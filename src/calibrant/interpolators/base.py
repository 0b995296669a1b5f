"""An interpolation algorithm: from calibration scores to the map q."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from calibrant._arrays import Array, Rng
from calibrant.interpolators.support import REAL_LINE

if TYPE_CHECKING:
    from calibrant.distributions.base import Distribution
    from calibrant.interpolators.support import Support


@runtime_checkable
class Interpolator(Protocol):
    """Fits q, a CDF, to the calibration scores. Your own has these two methods: see docs/write-your-own.md."""

    def fit(self, scores: Array, *, support: Support = REAL_LINE, rng: Rng = None) -> Distribution:
        """The single distribution q of n scores, with q(u_(i)) near i / (n + 1).

        Args:
            scores: The calibration scores, an array of n numbers.
            weights: Where it takes them, likelihood ratios p_new(x) / p(x) of the calibration rows, up to a factor.
            support: The interval in which scores can lie; the real line by default.
            rng: A `numpy.random.Generator`, for what is drawn; a fresh one by default.
        """

    def accuracy(self, n: int) -> float:
        """The lambda with q(u_(i)) in (i +- lambda) / (n + 1) for any n distinct scores, fixed before the data.

        -1 marks a randomised q such as that of `Random`: its calibration is exact, so that (1 + lambda) / (n + 1) is 0.

        Args:
            n: The number of scores.
        """
