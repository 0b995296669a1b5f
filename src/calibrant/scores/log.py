"""The logarithm of a ratio."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._arrays import Array, namespace
from calibrant._types import ArrayLike
from calibrant.forecast import PredictionLike
from calibrant.predictions import Point, with_labels
from calibrant.scores.charts import LogLine
from calibrant.scores.offset import Offset


@dataclass(frozen=True)
class LogScore(Offset):
    """phi(f, y) = log((y + c) / (f + c)): for labels above -c that miss by a factor. H lives on y > -c.

    With the default, c = 0, predictions and labels must be positive. Where there are zeros, c = 1 makes log1p of both;
    c has the unit of y, so change all together. H is exp(S), S ~ q, moved and stretched: its mean, std and crps are
    integrated once for all rows, to 5e-5 of the spread. If the upper tail of q has a mean excess of 1 or more, H has no
    finite mean. Mass that q has at -inf (`InfiniteTails`, `Random`) stays there; `H.clip(lower=-c)` moves it to -c.

    >>> LogScore(c=1.0)([0.0, 9.0], [1.0, 4.0]).round(3)
    array([ 0.693, -0.693])
    """

    def chart(self, prediction: Point) -> LogLine:
        """log of (y + c) / (f + c)."""
        scale = self.positive("f", prediction.values)
        return LogLine(namespace(scale).full_like(scale, -self.c), scale)

    def __call__(self, prediction: PredictionLike, y: ArrayLike) -> Array:
        """phi(f(x_i), y_i) for each row i; every label must be above -c."""
        prediction, y = with_labels(prediction, y)
        self.positive("y", y)
        return super().__call__(prediction, y)
