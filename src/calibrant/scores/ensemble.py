"""The score of an ensemble."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Self

from calibrant._arrays import Array
from calibrant._words import warn_user
from calibrant.interpolators.support import REAL_LINE, Logits, Support
from calibrant.predictions import Ensemble
from calibrant.scores.base import Score, default_score
from calibrant.scores.floors import ScaledScore
from calibrant.scores.transforms.base import Transform
from calibrant.scores.transforms.combined import weighted_sum


@dataclass(frozen=True)
class EnsembleScore(ScaledScore, default_for=Ensemble):
    """phi(f, y) = sum of w_k phi_k(f_k, y) over the members, members of members included.

    Each member is scored by its default, by `scores` if that is a single score, or by its own entry of `scores`. Exact
    where every member's score is a line or a broken line. Cdf scores sum to that of the pooled forecast. A score that
    learns something from the calibration predictions, such as a floor, learns it for each member.
    """

    scores: Score | Sequence[Score] | None = None
    remedy = "Pass EnsembleScore scores with a floor"

    @property
    def support(self) -> Support:  # type: ignore[override]
        """That of the members' scores, if they are all cdf scores; the line otherwise."""
        given = self.scores if isinstance(self.scores, Sequence) else [self.scores]
        return Logits() if all(isinstance(getattr(s, "support", None), Logits) for s in given) else REAL_LINE

    def transform(self, prediction: Ensemble) -> Transform:
        """The weighted sum of the members' transforms."""
        scores = self._of_members(prediction)
        if len({score.unit_free for score in scores}) > 1:
            warn_user(
                "this ensemble adds residuals, which have the unit of y, to scores without one: divide the weights of"
                " its point predictions by a typical residual, or the result depends on the unit of y"
            )
        transforms = [score.transform_of(member) for score, member in zip(scores, prediction.members, strict=True)]
        return weighted_sum(transforms, prediction.weights)

    def middle(self, prediction: Ensemble) -> float:
        """The weighted sum of the members' middles."""
        if isinstance(self.support, Logits):  # cdf scores alone become the logit of the pooled forecast
            return 0.0
        # next to others a cdf score enters as F(y) itself
        parts = zip(self._of_members(prediction), prediction.members, prediction.weights, strict=True)
        return sum(w * (0.5 if isinstance(score.support, Logits) else score.middle(f)) for score, f, w in parts)

    def learn(self, prediction: Ensemble, y: Array | None = None) -> tuple[Self, Array]:
        """What the scores of the members learn; a row counts if it needed that in any member."""
        scores = self._of_members(self._expected(prediction))
        pairs = [score.learn(member, y) for score, member in zip(scores, prediction.members, strict=True)]
        learned, masks = zip(*pairs, strict=True)
        same = all(new is old for new, old in zip(learned, scores, strict=True))
        return self if same else replace(self, scores=learned), reduce(or_, masks)

    def _of_members(self, prediction: Ensemble) -> Sequence[Score]:
        """The score of each member."""
        members, scores = prediction.members, self.scores
        if scores is None:
            return [default_score(member) for member in members]
        if not isinstance(scores, Sequence):
            return [self if isinstance(member, Ensemble) else scores for member in members]
        if len(scores) != len(members):
            raise ValueError(
                f"EnsembleScore.scores must hold one score for each of {len(members)} members, got {len(scores)}"
            )
        return scores
