"""The level at which a label lies among predicted quantiles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from calibrant._arrays import Array, concatenate, namespace, one_number
from calibrant.predictions import Quantiles, Samples
from calibrant.scores.base import ChartScore
from calibrant.scores.charts import Affine, BrokenLine, Chart


@dataclass(frozen=True)
class QuantileScore(ChartScore):
    """phi(f, y) runs straight through (f_k, alpha_k), k = 1..K, and on outside with a slope of its own.

    By default that slope is the row's mean slope, (alpha_K - alpha_1) / (f_K - f_1), so that the score does not
    depend on the unit of y. `outer_slope=1` is the paper's score, made for standardised labels. With a single
    quantile the score is the residual.
    """

    outer_slope: float | None = None
    expects = (Quantiles,)

    def __post_init__(self) -> None:
        slope = self.outer_slope
        if slope is not None and not 0 < one_number("QuantileScore.outer_slope", slope) < math.inf:
            raise ValueError(f"QuantileScore.outer_slope must be positive and finite, got {self.outer_slope}")

    def chart(self, prediction: Any) -> Chart:
        """The broken line through the quantiles."""
        return _broken_line(prediction.levels, prediction.values, self.outer_slope)

    def middle(self, prediction: Any) -> float:
        """1/2; 0 for a single quantile, whose score is the residual."""
        return 0.0 if prediction.levels.shape[0] == 1 else 0.5


@dataclass(frozen=True)
class SamplesScore(ChartScore):
    """The quantile score of the sorted samples, at the levels (k - 1/2) / K."""

    expects = (Samples,)

    def chart(self, prediction: Any) -> Chart:
        """The broken line through the sorted samples."""
        quantiles = prediction.as_quantiles()
        return _broken_line(quantiles.levels, quantiles.values, None)

    def middle(self, prediction: Any) -> float:
        """1/2."""
        return 0.5


def _broken_line(levels: Array, values: Array, outer_slope: float | None) -> Chart:
    xp = namespace(values)
    if values.shape[1] == 1:
        slope = 1.0 if outer_slope is None else outer_slope
        return Affine(values[:, 0], xp.full_like(values[:, 0], 1 / slope))
    width = values[:, 1:] - values[:, :-1]
    inner = (levels[1:] - levels[:-1]) / width
    own = (levels[-1] - levels[0]) / (values[:, -1:] - values[:, :1])
    outer = own if outer_slope is None else xp.full_like(own, outer_slope)
    return BrokenLine(values, levels[None, :], concatenate([outer, inner, outer], axis=1))
