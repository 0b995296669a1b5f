"""An interpolation algorithm: from calibration scores to their CDF q."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from calibrant._arrays import Array, Rng
from calibrant.interpolators.support import REAL_LINE

if TYPE_CHECKING:
    from calibrant.distributions.base import Context, Distribution
    from calibrant.guarantee import Guarantee
    from calibrant.interpolators.support import Support


@runtime_checkable
class Interpolator(Protocol):
    """Fits q, a CDF, to the calibration scores. To write one, define these two methods: see docs/write-your-own.md."""

    def fit(self, scores: Array, *, support: Support = REAL_LINE, rng: Rng = None) -> Distribution:
        """The single distribution q of n scores: q(u_(i)) is near i / (n + 1), where u_(i) is the i-th smallest score.

        `weights`, where it takes them, are likelihood ratios p_new(x) / p_old(x) of the rows; a common factor cancels.

        Args:
            scores: The calibration scores, an array of n numbers.
            support: The interval in which scores can lie; the real line by default.
            rng: A `numpy.random.Generator`, for what is drawn; a fresh one by default.
        """

    def accuracy(self, n: int) -> float:
        """The lambda, fixed before the data: for distinct scores q(u_(i)) is within lambda / (n + 1) of i / (n + 1).

        -1 marks a randomised q such as that of `Random`: its calibration is exact, so that (1 + lambda) / (n + 1) is 0.

        Args:
            n: The number of scores.
        """


@runtime_checkable
class ContextInterpolator(Protocol):
    """An interpolator whose q depends on the row: its `for_rows` gives the distribution of a new row."""

    def fit_rows(
        self, scores: Array, context: Context, *, support: Support = REAL_LINE
    ) -> tuple[Distribution, Guarantee]:
        """q, and the guarantee that holds for it.

        Args:
            scores: The calibration scores, an array of n numbers.
            context: What is known of the rows besides their predictions: groups, weights and random numbers.
            support: The interval in which scores can lie; the real line by default.
        """
