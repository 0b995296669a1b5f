"""Scores that divide by a width of the prediction."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from calibrant._arrays import Array, anywhere, first_and_count, namespace
from calibrant._words import in_all
from calibrant.distributions.base import Distribution
from calibrant.predictions import Interval, Point
from calibrant.scores.base import default_for
from calibrant.scores.floors import Floored
from calibrant.scores.location_scale import LocationScaleScore


class _InWidths(Floored, LocationScaleScore):
    """phi(f, y) = (y - loc) / max(width, floor)."""

    def loc_scale(self, prediction: Any) -> tuple[Array, Array]:
        """The value near which the width is, and the width."""
        width, loc = self.widths(prediction)
        return loc, self.at_least(width, loc)

    @abstractmethod
    def widths(self, prediction: Any) -> tuple[Array, Array]:
        """The width, and loc."""


@dataclass(frozen=True, repr=False)
class RelativeScore(_InWidths):
    """phi(f, y) = (y - f) / max(|f|, floor): the error in shares of the prediction; see `Floored` for the floor.

    For labels that miss by a percentage, of either sign. A prediction of 0 has no relative error, and one near 0 a huge
    one: where predictions cross 0, pass a floor, the size below which errors no longer shrink with f.

    >>> RelativeScore()([10.0, -20.0], [11.0, -15.0])
    array([0.1 , 0.25])
    """

    expects: ClassVar[tuple[type, ...]] = (Point,)

    def widths(self, prediction: Point) -> tuple[Array, Array]:
        """|f|, and f."""
        f = prediction.values
        return namespace(f).abs(f), f


@default_for(Interval)
@dataclass(frozen=True, repr=False)
class IntervalScore(_InWidths):
    """phi([l, u], y) = (y - l) / max(u - l, floor); see `Floored` for the floor."""

    expects: ClassVar[tuple[type, ...]] = (Interval,)
    _middle = 0.5  # halfway between the bounds

    def widths(self, prediction: Interval) -> tuple[Array, Array]:
        """u - l, and l."""
        return prediction.upper - prediction.lower, prediction.lower


@default_for(Distribution)
@dataclass(frozen=True, repr=False)
class ZScore(_InWidths):
    """phi(F, y) = (y - mean(F)) / max(std(F), floor); see `Floored` for the floor."""

    expects: ClassVar[tuple[type, ...]] = (Distribution,)

    def widths(self, prediction: Distribution) -> tuple[Array, Array]:
        """The standard deviation, and the mean; both must be finite."""
        mean, std = prediction.mean(), prediction.std()
        xp = namespace(mean)
        bad = ~(xp.isfinite(mean) & xp.isfinite(std))
        if anywhere(bad):
            first, count = first_and_count(bad)
            raise ValueError(
                f"ZScore needs a finite mean and std, which row {first} ({in_all(count)}) has not: use CDFScore"
            )
        return std, mean
