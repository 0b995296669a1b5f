"""The level at which a label lies among samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from calibrant.predictions import Quantiles, Samples
from calibrant.scores.default import default_for
from calibrant.scores.quantile_line import QuantileLine


@default_for(Samples)
@dataclass(frozen=True, repr=False)
class SamplesScore(QuantileLine):
    """The quantile score of the sorted samples, at the levels (k - 1/2) / K."""

    outer_slope = None
    expects: ClassVar[tuple[type, ...]] = (Samples,)

    def quantiles(self, prediction: Samples) -> Quantiles:
        """The sorted samples."""
        return prediction.as_quantiles()

    def middle(self, prediction: Samples) -> float:
        """1/2."""
        return 0.5
