"""The probability integral transform."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant.distributions.base import Distribution
from calibrant.interpolators.support import Logits
from calibrant.scores.base import TransformScore
from calibrant.scores.transforms import LogitCDF, Transform


@dataclass(frozen=True)
class CDFScore(TransformScore):
    """phi(F, y) = F(y), carried as its logit, log F(y) - log(1 - F(y)).

    F(y) itself rounds to 1 where a label lies eight standard deviations out; its logit does not. The interpolators see
    the logits: Linear interpolates in F(y), as the paper does, and NAF in the logit.
    """

    expects = (Distribution,)
    support = Logits()
    _middle = 0.0

    def transform(self, prediction: Distribution) -> Transform:
        """logit F(y)."""
        return LogitCDF(prediction)
