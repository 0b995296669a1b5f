"""Scores that divide by a width of the prediction: rows that have none, and rows so narrow that they dominate q.

The floor under a width never depends on the other rows of a batch: it is a number that the user knows from training
rows, or that `Calibrator.fit` learned from the calibration predictions.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from calibrant._arguments import positive
from calibrant._arrays import Array, anywhere, detached, first_and_count, namespace, refuse, resolution
from calibrant._batch import no_rows
from calibrant._words import count, singular_if_one, the_first, warn_user
from calibrant.distributions.base import Distribution
from calibrant.predictions import Interval, Point
from calibrant.scores.base import Score
from calibrant.scores.location_scale import LocationScaleScore
from calibrant.scores.transforms.base import Affine, BrokenLine

NARROW, FAR = 0.1, 3.0  # times the median scale, and times the mean distance from the median score
MOST = 2 / 3  # of the sum of these distances: then q has three times the spread
FEWEST = 20  # rows below which a single outlier of honest scores may look the same


class ScaledScore(Score):
    """A score that divides by a scale of each row, and warns where a few narrow rows dominate q."""

    remedy: ClassVar[str]
    """What to do about scales far below the others."""

    def review(self, prediction: Any, scores: Array) -> None:
        """Warn where a few rows make most of the spread of q.

        Such a q is still calibrated on average, and its inner quantiles are sound. But its mean, its std and its tails
        are those of a few rows, stretched by the scale of every other row.

        Two things must meet. Scores beyond 3 times the mean distance from the median score make two thirds of the sum
        of these distances; and so do those among them whose row has a scale below a tenth of the median. Heavy tails
        alone do the first, and honest scales that differ a lot the second; scores that do not depend on the scale
        hardly ever do both. Nothing depends on the unit of y. The scale is that of a line, or of a broken line above
        all its knots.
        """
        xp, n = namespace(scores), scores.shape[0]
        distance = abs(scores - upper_median(scores))
        total = float(xp.sum(distance))
        far = distance > FAR * total / n
        if n < FEWEST or not xp.sum(distance[far]) > MOST * total:
            return  # most often, before any transform is made
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # rows without a width were counted when they were scored
            lines = self.transform_of(prediction)
        if not isinstance(lines, (Affine, BrokenLine)):
            return
        scale = detached(lines.scale if isinstance(lines, Affine) else 1 / lines.slopes[:, -1])
        typical = float(upper_median(scale))
        dominant = far & (scale < NARROW * typical)
        share = float(xp.sum(distance[dominant])) / total
        if not share > MOST:
            return
        first, number = first_and_count(dominant)
        times = typical / float(xp.max(scale[dominant]))
        have, make = ("has a", "its score makes") if number == 1 else ("have a", "their scores make")
        name = type(self).__name__
        warn_user(
            f"{name}: {number:,} of {n:,} calibration rows, the first is row {first}, {have} scale {times:,.0f} times"
            f" smaller than the median, and {make} up {int(1000 * share) / 10:.3g}% of the spread of q: mean,"
            f" std and tails of every calibrated distribution depend on them."
            f" {self.remedy.format(name=name, floor=NARROW * typical)}, use ResidualScore() on points, or let"
            " CalibratedRegressor learn the scale (refine='spread')",
            argument="score",
        )


@dataclass(frozen=True, repr=False)
class Floored(ScaledScore):
    """A score that divides by max(width, floor).

    `floor` has the unit of y. Give one that you know from training rows, and the guarantee stays as it is. Otherwise
    `Calibrator.fit` learns one, a millionth of the median width of the calibration rows, keeps it for all later rows,
    and the guarantee counts the calibration rows that needed it. A score used by itself, without `fit` or `floor`,
    gives such a row the least width that floats tell apart.
    """

    _: KW_ONLY
    floor: float | None = None

    share: ClassVar[float] = 1e-6
    """Of the median width of the calibration rows: the floor that `fit` learns."""
    warns: ClassVar[bool] = True
    """Whether it warns of rows that are given the floor."""
    remedy = "Pass a floor, such as {name}(floor={floor:.2g}), a tenth of the median scale"

    def __post_init__(self) -> None:
        if self.floor is not None:
            object.__setattr__(self, "floor", positive(f"{type(self).__name__}.floor", self.floor))

    @abstractmethod
    def loc_scale(self, prediction: Any) -> tuple[Array, Array] | None:
        """A value near which each row lies, and the width it has by itself; None where the score needs no width.

        Args:
            prediction: The prediction of each row.
        """

    def learn(self, prediction: Any, y: Array | None = None) -> tuple[Self, Array]:
        """The same score with a floor, and which rows are below it; as it is, if it has one.

        The floor is a share of the median of the widths that are more than rounding. Where there is none, every row
        gets the same scale, and any gives these rows the same distribution: then it is the spread of the centres, so
        that a later row with a width is not stretched beyond it.
        """
        prediction = self._expected(prediction)
        found = None if self.floor is not None else self.loc_scale(prediction)
        if found is None:
            return self, no_rows(prediction)
        centre, width = map(detached, found)
        xp = namespace(width)
        # a distribution whose scale is what floats tell apart has a std of a few times that
        own = width[width > 16 * resolution(centre)]
        if own.shape[0]:
            floor = self.share * float(upper_median(own))
        else:
            floor = float(xp.max(centre) - xp.min(centre)) or float(xp.max(abs(centre))) or 1.0
        return replace(self, floor=floor), width < floor

    def _positive_scale(self, scale: Array, loc: Array) -> Array:
        """The width, with the floor, or what floats near `loc` tell apart, in the rows that are below the floor."""
        low = scale < self.floor if self.floor else scale <= 0
        if not anywhere(low):
            return scale
        if self.warns:
            first, number = first_and_count(low)
            given = f"a floor of {self.floor:.3g}" if self.floor else "the least that floats tell apart; pass a floor"
            warn_user(
                f"{type(self).__name__}: {count(number, 'row')}, {the_first(number, first)},"
                f" {singular_if_one(number, 'have no width of their own: they are given')} {given}"
            )
        return namespace(scale).where(low, resolution(loc, self.floor), scale)

    def __repr__(self) -> str:
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        own = [f"{name}={value:.3g}" for name, value in given.items() if value is not None]
        return f"{type(self).__name__}({', '.join(own)})"


@dataclass(frozen=True, repr=False)
class RelativeScore(Floored, LocationScaleScore):
    """phi(f, y) = (y - f) / max(|f|, floor): the error in shares of the prediction; see `Floored` for the floor.

    For labels that miss by a percentage, of either sign. A prediction of 0 has no relative error, and one near 0 a huge
    one: where predictions cross 0, pass a floor, the size below which errors no longer shrink with f.

    >>> RelativeScore()([10.0, -20.0], [11.0, -15.0])
    array([0.1 , 0.25])
    """

    expects: ClassVar[tuple[type, ...]] = (Point,)

    def loc_scale(self, prediction: Point) -> tuple[Array, Array]:
        """f and |f|."""
        return prediction.values, abs(prediction.values)


@dataclass(frozen=True, repr=False)
class IntervalScore(Floored, LocationScaleScore, default_for=Interval):
    """phi([l, u], y) = (y - l) / max(u - l, floor); see `Floored` for the floor."""

    centre: ClassVar[float | None] = 0.5  # halfway between the bounds

    def loc_scale(self, prediction: Interval) -> tuple[Array, Array]:
        """l and u - l."""
        return prediction.lower, prediction.upper - prediction.lower


@dataclass(frozen=True, repr=False)
class ZScore(Floored, LocationScaleScore, default_for=Distribution):
    """phi(F, y) = (y - mean(F)) / max(std(F), floor); see `Floored` for the floor."""

    def loc_scale(self, prediction: Distribution) -> tuple[Array, Array]:
        """The mean and the standard deviation, which must be finite."""
        mean, std = prediction.mean(), prediction.std()
        xp = namespace(mean)
        bad = ~(xp.isfinite(mean) & xp.isfinite(std))
        refuse("a finite mean and std, which ZScore needs and CDFScore does not,", bad, "is missing")
        return mean, std


def upper_median(values: Array) -> Array:
    """The upper median: in O(n) on numpy, whose sort of a million takes longer than all the rest."""
    place = values.shape[0] // 2
    ordered = np.partition(values, place) if isinstance(values, np.ndarray) else namespace(values).sort(values)
    return ordered[place]
