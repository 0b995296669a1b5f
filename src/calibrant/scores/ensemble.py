"""The score of an ensemble."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar, Self, cast

from calibrant._arrays import Array
from calibrant.interpolators.support import REAL_LINE, Logits, Support
from calibrant.predictions import Ensemble
from calibrant.scores.base import ChartScore
from calibrant.scores.charts import Chart, combine
from calibrant.scores.default import default_for, default_score
from calibrant.scores.ruling import Scaled


@default_for(Ensemble)
@dataclass(frozen=True)
class EnsembleScore(Scaled):
    """phi(f, y) = sum of w_k phi_k(f_k, y) over the members, members of members included.

    Each member is scored by its default, by `scores` if that is a single score, or by its own entry of `scores`. Exact
    where every member's score is a line or a broken line. Cdf scores sum to that of the pooled law. A score that learns
    something from the calibration predictions, such as a floor, learns it for each member.
    """

    scores: ChartScore | Sequence[ChartScore] | None = None
    expects: ClassVar[tuple[type, ...]] = (Ensemble,)

    @property
    def support(self) -> Support:  # type: ignore[override]
        """That of the members' scores, if they are all cdf scores; the line otherwise."""
        given = self.scores if isinstance(self.scores, Sequence) else [self.scores]
        return Logits() if all(isinstance(getattr(s, "support", None), Logits) for s in given) else REAL_LINE

    def chart(self, prediction: Ensemble) -> Chart:
        """The weighted sum of the members' charts."""
        scores = self._scores(prediction)
        if len({score.unit_free for score in scores}) > 1:
            warnings.warn(
                "this ensemble adds residuals, which have the unit of y, to scores without one: divide the weights of"
                " its point predictions by a typical residual, or the result depends on the unit of y",
                stacklevel=4,
            )
        charts = [score.chart_of(member) for score, member in zip(scores, prediction.members, strict=True)]
        return combine(charts, prediction.weights)

    def middle(self, prediction: Ensemble) -> float:
        """The weighted sum of the members' middles."""
        if isinstance(self.support, Logits):  # cdf scores alone become the logit of the pooled law
            return 0.0
        # beside others a cdf score enters as F(y) itself
        members = zip(self._scores(prediction), prediction.members, prediction.weights, strict=True)
        return float(sum(w * (0.5 if isinstance(s.support, Logits) else s.middle(m)) for s, m, w in members))

    def learn(self, prediction: Ensemble) -> tuple[Self, Array]:
        """What the scores of the members learn; a row counts if it is mended in any member."""
        prediction = self.expected(prediction)
        scores = self._scores(prediction)
        learned = [score.learn(member) for score, member in zip(scores, prediction.members, strict=True)]
        mended = reduce(lambda a, b: a | b, (rows for _, rows in learned))
        kept = tuple(score for score, _ in learned)
        same = all(new is old for new, old in zip(kept, scores, strict=True))
        return self if same else replace(self, scores=kept), mended

    def scales(self, prediction: Ensemble) -> Array | None:
        """1 / sum of w_k / scale_k, the scale of a sum of lines; None where that of a member is not known."""
        members = zip(self._scores(prediction), prediction.members, prediction.weights, strict=True)
        slopes: list[Array] = []
        for score, member, weight in members:
            scale = score.scales(member) if isinstance(score, Scaled) else None
            if scale is None:
                return None
            slopes.append(weight / scale)
        return 1 / reduce(lambda a, b: a + b, slopes)

    def remedy(self, typical: float) -> str:
        """The floor is the members' scores'."""
        return "pass EnsembleScore scores with a floor"

    def _scores(self, prediction: Ensemble) -> list[ChartScore]:
        count = len(prediction.members)
        if self.scores is None:
            return [cast(ChartScore, default_score(member)) for member in prediction.members]
        if not isinstance(self.scores, Sequence):
            members = prediction.members
            return [self if isinstance(member, Ensemble) else self.scores for member in members]
        if len(self.scores) != count:
            raise ValueError(
                f"EnsembleScore.scores must hold one score for each of {count} members, got {len(self.scores)}"
            )
        return list(self.scores)
