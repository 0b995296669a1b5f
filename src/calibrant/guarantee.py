"""What is promised, in numbers and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from calibrant._arrays import Array, namespace, unit
from calibrant.distributions.base import Distribution
from calibrant.distributions.context import Context
from calibrant.interpolators import ContextInterpolator, Interpolator, Linear


@dataclass(frozen=True)
class Guarantee:
    """sup_c |P(H[X](Y) <= c) - c| <= epsilon = (1 + lambda) / (n + 1), on average over calibration sets (Theorem 1).

    `kind` is "exact" (epsilon is 0), "marginal" (epsilon holds) or "approximate": scores are tied, so that epsilon
    holds only up to the largest tie, or rows without a width of their own were given a floor learned from all
    calibration rows, so that these are not quite exchangeable with later ones. `conditional(confidence)` bounds the
    error of this very calibration set.
    """

    n: int
    accuracy: float
    """lambda: how far q(u_(i)) may be from i / (n + 1), in units of 1 / (n + 1); -1 for a randomised q."""
    largest_tie: int = 1
    floored: int = 0
    """The calibration rows without a width of their own, which got a floor learned from all."""

    @classmethod
    def of(cls, interpolator: Interpolator, scores: Array, *, floored: int = 0) -> Guarantee:
        """The guarantee of an interpolator on these scores."""
        n = scores.shape[0]
        return cls(n, float(interpolator.accuracy(n)), largest_tie_of(scores), floored)

    @property
    def epsilon(self) -> float:
        """(1 + lambda) / (n + 1), at most 1."""
        return min(1.0, (1 + self.accuracy) / (self.n + 1))

    @property
    def kind(self) -> str:
        """Exact, marginal or approximate."""
        if self.floored:
            return "approximate"
        if self._is_randomised:
            return "exact"
        return "marginal" if self.largest_tie == 1 else "approximate"

    @property
    def _is_randomised(self) -> bool:
        return self.accuracy == -1

    def conditional(self, confidence: float = 0.95) -> float:
        """epsilon + sqrt(log(2 / (1 - confidence)) / (2 n)): with that confidence no error is larger (DKW).

        Here the rows must be independent and alike, which is more than exchangeable.
        Tied scores are one jump of H, which adds the largest tie, less one, over n + 1; a randomised q fills the jump.
        """
        jump = 0.0 if self._is_randomised else (self.largest_tie - 1) / (self.n + 1)
        return min(1.0, self.epsilon + jump + _dkw(self.n, unit("confidence", confidence)))

    def __str__(self) -> str:
        bound, continuous = f"|P(H(Y) <= c) - c| <= {self.epsilon:.3g} for every c", ", and continuous scores"
        if self._is_randomised:
            bound, continuous = "P(H(Y) <= c) = c for every c", ""
        limits = []
        if self.floored:
            limits.append(f"but only approximately: {floor_words(self.floored)}")
        if self.largest_tie > 1 and not self._is_randomised:
            share = self.largest_tie / (self.n + 1)
            limits.append(
                f"{'and' if limits else 'but'} only up to ties: the largest is of {self.largest_tie} scores,"
                f" {share:.2g} of them all"
            )
        claim = ", ".join([bound, *limits])
        return (
            f"{claim}, on average over calibration sets of n = {self.n}; for this one the error is at most"
            f" {self.conditional():.3g} with 95% confidence, if rows are independent. Assumes exchangeable data, a"
            f" model not trained on the calibration set{continuous}."
        )


@dataclass(frozen=True)
class CrossGuarantee:
    """P(H[X](Y) <= c) <= 2 c + epsilon and P(H[X](Y) >= 1 - c) <= 2 c + epsilon for every c: what folds can promise.

    H is the mean of K laws with the weights w_k, each calibrated on a fold that its model did not see, up to its own
    epsilon_k = (1 + lambda) / (n_k + 1). So H_k + epsilon_k is a p-value, and twice a mean of p-values is one, however
    they depend on each other: the models share rows (Rüschendorf 1982; Vovk and Wang 2020). Hence epsilon = 2 sum of
    w_k epsilon_k, about 2 K (1 + lambda) / n. In practice the error is far smaller; nothing better is proved.
    """

    folds: tuple[Guarantee, ...]
    weights: tuple[float, ...]

    @property
    def n(self) -> int:
        """The number of scores, over all folds: that of the rows, if no row is in two folds."""
        return sum(fold.n for fold in self.folds)

    @property
    def epsilon(self) -> float:
        """2 sum of w_k (1 + lambda) / (n_k + 1), at most 1."""
        return min(1.0, 2 * sum(w * fold.epsilon for w, fold in zip(self.weights, self.folds, strict=True)))

    @property
    def largest_tie(self) -> int:
        """The largest group of equal scores in any one fold."""
        return max(fold.largest_tie for fold in self.folds)

    @property
    def floored(self) -> int:
        """The scores of rows that got a learned floor, over all folds."""
        return sum(fold.floored for fold in self.folds)

    @property
    def kind(self) -> str:
        """Cross; "cross, approximate" where one of the folds is approximate: for ties, or for a learned floor."""
        return "cross, approximate" if any(fold.kind == "approximate" for fold in self.folds) else "cross"

    def __str__(self) -> str:
        ties = f", but only approximately: {floor_words(self.floored)}" if self.floored else ""
        if any(fold.largest_tie > 1 and not fold._is_randomised for fold in self.folds):
            but = "and" if self.floored else "but"
            ties += f", {but} only up to ties: the largest is of {self.largest_tie} scores"
        continuous = "" if all(fold._is_randomised for fold in self.folds) else ", and continuous scores"
        return (
            f"P(H(Y) <= c) <= 2c + {self.epsilon:.3g} and P(H(Y) >= 1 - c) <= 2c + {self.epsilon:.3g} for every"
            f" c{ties}: the laws of {len(self.folds)} folds are averaged, n = {self.n} scores in all, each by a model"
            f" that did not see its row. Assumes exchangeable data{continuous}."
        )


def fitted(interpolator: Interpolator, scores: Array, support: Any, context: Context) -> tuple[Distribution, Guarantee]:
    """q and what it promises: both made by the interpolator, from the scores and what else is known of their rows."""
    if context.unused():
        if not isinstance(interpolator, ContextInterpolator):
            given = ", ".join(f"{name}=" for name in context.unused())
            raise TypeError(f"{interpolator!r} makes one q for all rows and takes no {given}")
        return interpolator.fit_rows(scores, context, support=support)
    q = interpolator.fit(scores, support=support, rng=context.rng)
    return q, Guarantee.of(interpolator, scores)


def floor_words(floored: int) -> str:
    """Why a guarantee is approximate."""
    rows, own, were = ("row", "its own", "was") if floored == 1 else ("rows", "their own", "were")
    return f"{floored} calibration {rows} had no width of {own} and {were} given a floor learned from all"


def required_n(epsilon: float, confidence: float | None = None, *, interpolator: Interpolator | None = None) -> int:
    """The smallest n that brings the error bound down to `epsilon`: on average, or for one set with some confidence.

    >>> required_n(0.01), required_n(0.05, confidence=0.95)
    (99, 778)
    """
    epsilon = unit("epsilon", epsilon)
    if confidence is not None:
        confidence = unit("confidence", confidence)
    interpolator = Linear() if interpolator is None else interpolator

    def enough(n: int) -> bool:
        bound = (1 + interpolator.accuracy(n)) / (n + 1)
        return bound + (0.0 if confidence is None else _dkw(n, confidence)) <= epsilon * (1 + 1e-12)

    high = 1
    while not enough(high):
        high *= 2
        if high > 2**60:
            raise ValueError(f"{interpolator!r} reaches no epsilon of {epsilon}, however large n is")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def required_n_for_interval(coverage: float) -> int:
    """The smallest n with finite conformal bounds: ceil((n + 1) coverage) <= n.

    >>> required_n_for_interval(0.9), required_n_for_interval(0.95)
    (9, 19)
    """
    share = exact(unit("coverage", coverage))
    return math.ceil(share / (1 - share))


def exact(number: float) -> Fraction:
    """A number as the decimal it was written as, so that 100 * 0.29 is 29."""
    return Fraction(repr(float(number)))


def _dkw(n: int, confidence: float) -> float:
    return math.sqrt(math.log(2 / (1 - confidence)) / (2 * n))


def largest_tie_of(scores: Array) -> int:
    """The size of the largest group of equal scores."""
    xp = namespace(scores)
    return int(xp.max(xp.unique_counts(scores).counts))
