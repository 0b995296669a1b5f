"""How labels belong together: what makes them comparable, and the rows in which all of them were seen."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import Array, device_like, largest_tie_of, namespace
from calibrant._batch import promoted
from calibrant._special import safe_log
from calibrant._types import ArrayLike, Bound
from calibrant.calibration import Calibrator
from calibrant.distributions.base import Distribution
from calibrant.distributions.own_logit import OwnLogit
from calibrant.distributions.standard_families import Logistic
from calibrant.forecast import PredictionLike
from calibrant.interpolators.linear import Linear
from calibrant.intervals import standard_rank
from calibrant.labels.base import Labels
from calibrant.predictions import Interval, Prediction, Quantiles, Samples
from calibrant.scores import CDFScore, Score
from calibrant.scores.base import default_score

Numbers = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Joint:
    """The n calibration rows, as far as their labels belong together."""

    ranks: NDArray[np.int64]
    """(n, d): the place of each label's score among the n scores of that label, 1 to n; ties by lot."""
    largest: Array | None = None
    """(n,): the largest two-sided score of each row over its labels, sorted; None where labels cannot be compared."""

    def __post_init__(self) -> None:
        """Each column of ranks holds 1 to n once, and the n largest scores do not fall."""
        n, largest = self.n, self.largest
        if bool(np.any(np.sort(self.ranks, axis=0) != np.arange(1, n + 1)[:, None])):
            raise ValueError(f"each label must have the ranks 1 to {n} once")
        if largest is not None and (largest.shape != (n,) or bool(np.any(np.diff(largest) < 0))):
            raise ValueError(f"its largest scores must be {n} and not fall, got {largest.shape[0]}")

    @property
    def n(self) -> int:
        """The number of calibration rows."""
        return int(self.ranks.shape[0])

    @property
    def largest_tie(self) -> int:
        """The size of the largest group of equal `largest`."""
        return 1 if self.largest is None else largest_tie_of(self.largest)

    def threshold(self, coverage: float) -> float:
        """The ceil((n + 1) coverage)-th smallest of the largest scores; infinite where there are fewer."""
        rank = standard_rank(self.n, coverage)
        return math.inf if self.largest is None or rank > self.n else float(self.largest[rank - 1])

    def uniforms(self, rows: int, size: int, rng: np.random.Generator) -> Numbers:
        """(rows, size, d) numbers, each uniform on (0, 1), that depend on each other as the ranks of a row do.

        Each draw takes a calibration row by lot, and a fresh uniform inside each of its ranks:
        (rank - 1 + uniform) / n.
        """
        chosen = rng.integers(self.n, size=(rows, size))
        inside: Numbers = rng.random((rows, size, self.ranks.shape[1]))
        # open at both ends, so that no draw is infinite unless there is mass
        levels: Numbers = np.clip((self.ranks[chosen] - 1 + inside) / self.n, 2.0**-54, 1 - 2.0**-53)
        return levels


def ranks_of(scores: Numbers, rng: np.random.Generator) -> Numbers:
    """1 to n in each column, ties by lot.

    >>> ranks_of(np.asarray([[0.5, 3.0], [0.1, 2.0], [0.9, 1.0]]), np.random.default_rng(0))
    array([[2, 3],
           [1, 2],
           [3, 1]])
    """
    order = np.lexsort((np.asarray(rng.random(scores.shape)), scores), axis=0)
    return np.asarray(np.argsort(order, axis=0) + 1)


@dataclass(frozen=True)
class Reference:
    """R[x](y) = q(phi(f(x), y)), with a distribution q that no calibration row helped to make.

    A label's two-sided score is |logit R[x](y)|. It is 0 at the median of R, has no unit, and does not saturate.
    """

    score: Score
    q: Distribution
    labels: Labels | None = None

    @classmethod
    def learned_on(
        cls, calibrator: Calibrator, prediction: PredictionLike, y: ArrayLike, *, bound: Bound = None
    ) -> Reference:
        """q is the distribution of the scores of training rows."""
        # of all interpolations the linear one has no atoms, and tails that never end
        known = replace(calibrator, interpolator=Linear()).fit(prediction, y, bound=bound)
        return cls(known.score, known.q, known.labels)

    @classmethod
    def own(cls, prediction: Any, labels: Labels | None, *, bound: Bound = None) -> Reference | None:
        """From the prediction's own spread; None where it has none.

        A distribution is its own reference. For an interval, quantiles or draws q is a logistic distribution around the
        middle of their score, so that the two-sided score is |phi - middle|.
        """
        if labels is not None:
            prediction = labels.spread_prediction(prediction, bound=bound)
        if isinstance(prediction, Distribution):
            return cls(CDFScore(), Logistic(0.0, 1.0), labels)
        several = isinstance(prediction, (Quantiles, Samples)) and prediction.values.shape[1] > 1
        if not several and not (isinstance(prediction, Interval) and not prediction.parts()):
            return None
        score, _ = default_score(prediction).learn(prediction)
        return cls(score, Logistic(score.middle(prediction), 1.0), labels)

    @property
    def kind(self) -> str:
        """The kind of score: those of one kind are comparable as they are."""
        return type(self.score).__name__

    def distribution(self, prediction: Prediction | Distribution, *, bound: Bound = None) -> Distribution:
        """R[x_i] for each row i."""
        if self.labels is not None:
            prediction = self.labels.spread_prediction(prediction, bound=bound)
        distribution = self.score.pull_back(self.q.to(prediction.like), prediction)
        return distribution if self.labels is None else self.labels.collapse(distribution, bound=bound)


def two_sided(distribution: Distribution, y: Array) -> Array:
    """The smallest t >= 0 for which y lies between the quantiles at sigmoid(-t) and sigmoid(t): |logit F(y)|.

    At an atom F jumps, and the nearer of its two sides counts.
    """
    distribution = promoted(distribution, y)
    logit, left = OwnLogit(distribution)(y[:, None])[:, 0], distribution.cdf_left(y)
    xp = namespace(logit)
    jump = left < distribution.cdf(y)
    before = xp.where(jump, left, xp.zeros_like(left))
    above = xp.where(jump, safe_log(before) - xp.log1p(-before), logit)
    return xp.maximum(xp.maximum(-logit, above), xp.zeros_like(logit))


def level_set(distribution: Distribution, t: float) -> tuple[Array, Array]:
    """The quantiles at sigmoid(-t) and sigmoid(t): all y whose two-sided score is at most t.

    A hair farther out, since a count whose score is t itself belongs to it: F jumps there, and the quantile at
    sigmoid(t) may be the count before.
    """
    t = t + 1e-9 * (1 + t)
    bounds = OwnLogit(distribution).inverse(device_like([[-t, t]], distribution.like))
    return bounds[:, 0], bounds[:, 1]
