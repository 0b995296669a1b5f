"""Scores of f + c and y + c: a root or a logarithm needs them positive.

c has the unit of y, so no default but 0 means the same in every unit. Nor does `fit` learn it: every score depends on
c, so the guarantee would be approximate for all calibration rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from calibrant._arguments import finite, keep
from calibrant._arrays import Array, anywhere, first_and_count, namespace
from calibrant._types import ArrayLike
from calibrant._words import about, in_all
from calibrant.forecast import PredictionLike
from calibrant.predictions import Point, with_labels
from calibrant.scores.floors import ScaledScore
from calibrant.scores.location_scale import LocationScaleScore
from calibrant.scores.transforms.base import Affine
from calibrant.scores.transforms.combined import Composed
from calibrant.scores.transforms.curves import Logarithm


@dataclass(frozen=True)
class _Offset(ScaledScore):
    """A score of f + c and y + c."""

    c: float = 0.0
    expects: ClassVar[tuple[type, ...]] = (Point,)
    centre: ClassVar[float | None] = 0.0  # the score of f
    remedy = "Pass a larger c"

    def __post_init__(self) -> None:
        keep(self, c=finite(f"{type(self).__name__}.c", self.c))

    def _above(self, name: str, value: Array) -> Array:
        """value + c, which must be positive in every row."""
        moved = value + self.c
        bad = ~(moved > 0)
        if anywhere(bad):
            first, count = first_and_count(bad)
            needed = -float(namespace(value).min(value))
            enough = 1.0 if needed < 1 else float(f"{1.1 * needed:.2g}")
            raise about(
                "score",
                ValueError(
                    f"{type(self).__name__} needs {name} + c > 0, but with c = {self.c:g} row {first}"
                    f" ({in_all(count)}) has {name} = {float(value[first]):.6g}: pass a larger c, such as {enough:g}"
                ),
            )
        return moved


@dataclass(frozen=True)
class SqrtScore(_Offset, LocationScaleScore):
    """phi(f, y) = (y - f) / sqrt(f + c): for counts, whose variance grows with their mean.

    The variance of a Poisson count is its mean f; errors of the model add a part that does not grow, about c. With the
    default, c = 0, every prediction must be positive. Where counts may be predicted as 0, c = 1 is a usual choice; c
    has the unit of y, so change both together.

    >>> SqrtScore(c=1.0)([3.0, 99.0], [5.0, 89.0])
    array([ 1., -1.])
    """

    unit_free = False

    def loc_scale(self, prediction: Point) -> tuple[Array, Array]:
        """f and sqrt(f + c)."""
        f = prediction.values
        return f, self._above("f", f) ** 0.5


@dataclass(frozen=True)
class LogScore(_Offset):
    """phi(f, y) = log((y + c) / (f + c)): for labels above -c that miss by a factor. H lives on y > -c.

    With the default, c = 0, predictions and labels must be positive. Where there are zeros, c = 1 makes log1p of both;
    c has the unit of y, so change all together. H is exp(S), S ~ q, moved and stretched: its mean, std and crps are
    integrated once for all rows, to 5e-5 of the spread. If the upper tail of q has a mean excess of 1 or more, H has no
    finite mean. Mass that q has at -inf (`InfiniteTails`, `Random`) stays there; `H.clip(lower=-c)` moves it to -c.

    >>> LogScore(c=1.0)([0.0, 9.0], [1.0, 4.0]).round(3)
    array([ 0.693, -0.693])
    """

    def transform(self, prediction: Point) -> Composed:
        """log of (y + c) / (f + c)."""
        scale = self._above("f", prediction.values)
        return Composed(Affine(namespace(scale).full_like(scale, -self.c), scale), Logarithm())

    def __call__(self, prediction: PredictionLike, y: ArrayLike) -> Array:
        """phi(f(x_i), y_i) for each row i; every label must be above -c."""
        prediction, y = with_labels(prediction, y)
        self._above("y", y)
        return super().__call__(prediction, y)
