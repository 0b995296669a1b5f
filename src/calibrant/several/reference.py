"""What makes several labels comparable: a distribution of each, made without the calibration rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from calibrant._arrays import Array, device_like, namespace
from calibrant._batch import promoted
from calibrant._special import safe_log
from calibrant._types import ArrayLike, Bound
from calibrant.calibration import Calibrator
from calibrant.distributions.base import Distribution
from calibrant.distributions.own_logit import OwnLogit
from calibrant.distributions.standard_families import Logistic
from calibrant.forecast import PredictionLike
from calibrant.interpolators.linear import Linear
from calibrant.labels.base import Labels
from calibrant.predictions import Interval, Prediction, Quantiles, Samples
from calibrant.scores import CDFScore, Score
from calibrant.scores.base import default_score


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
    def own(
        cls, prediction: PredictionLike, y: Array, labels: Labels | None, *, bound: Bound = None
    ) -> Reference | None:
        """From the prediction's own spread; None where it has none.

        A distribution is its own reference. For an interval, quantiles or draws q is a logistic distribution around the
        middle of their score, so that the two-sided score is |phi - middle|.
        """
        if labels is not None:
            prediction = labels.spread_prediction(prediction, bound=bound)
        if isinstance(prediction, Distribution):
            return cls(CDFScore(), Logistic(0.0, 1.0), labels)
        if not has_spread(prediction):
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


def has_spread(prediction: Any) -> bool:
    """Whether a prediction has a spread that its score uses."""
    if isinstance(prediction, (Quantiles, Samples)):
        return bool(prediction.values.shape[1] > 1)
    return isinstance(prediction, (Distribution, Interval)) and not (
        isinstance(prediction, Prediction) and bool(prediction.parts())
    )


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
