"""The level at which a label lies among predicted quantiles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from calibrant._arguments import one_number
from calibrant.predictions import Quantiles
from calibrant.scores.default import default_for
from calibrant.scores.quantile_line import QuantileLine


@default_for(Quantiles)
@dataclass(frozen=True, repr=False)
class QuantileScore(QuantileLine):
    """phi(f, y) runs straight through (f_k, alpha_k), k = 1..K, and on outside with a slope of its own.

    By default that slope is the row's mean slope, (alpha_K - alpha_1) / (f_K - f_1), so that the score does not
    depend on the unit of y. `outer_slope=1` is the paper's score, made for standardised labels. With a single
    quantile the score is the residual. Quantiles that are equal, or next to equal, are set a millionth of the row's
    mean gap apart; a row whose quantiles are all equal needs a floor for f_K - f_1, see `Floored`.
    """

    outer_slope: float | None = None
    expects: ClassVar[tuple[type, ...]] = (Quantiles,)

    def __post_init__(self) -> None:
        super().__post_init__()
        slope = self.outer_slope
        if slope is not None and not 0 < one_number("QuantileScore.outer_slope", slope) < math.inf:
            raise ValueError(f"QuantileScore.outer_slope must be positive and finite, got {self.outer_slope}")

    def quantiles(self, prediction: Quantiles) -> Quantiles:
        """As they are."""
        return prediction

    def middle(self, prediction: Quantiles) -> float:
        """1/2; 0 for a single quantile, whose score is the residual."""
        return 0.0 if prediction.levels.shape[0] == 1 else 0.5
