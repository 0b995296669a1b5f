"""A few rows with a tiny scale make huge scores, and these most of the spread of q.

Such a q is still calibrated on average, and its inner quantiles are sound. But its mean, its std and its tails are
those of a few rows, stretched by the scale of every other row. `fit` warns of that.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np

from calibrant._arrays import Array, detached, first_and_count, namespace
from calibrant._words import warn_user
from calibrant.scores.base import TransformScore
from calibrant.scores.transforms import Affine, BrokenLine

NARROW = 0.1
"""Of the median scale: a row below that is narrow."""
FAR = 3.0
"""Times the mean distance from the median score: a score beyond that is far out."""
MOST = 2 / 3
"""Of the sum of all distances: where narrow rows that are far out make as much, q has three times the spread."""
FEWEST = 20
"""Rows below which a single outlier of honest scores may look the same."""


class Reviewed(TransformScore):
    """A score that divides by a scale of each row."""

    _remedy: ClassVar[str]
    """What to do about scales far below the others."""

    def review(self, prediction: Any, scores: Array) -> None:
        """Warn where a few rows make most of the spread of q; `Calibrator.fit` calls it.

        Two things must meet. Scores beyond 3 times the mean distance from the median score make two thirds of the sum
        of these distances; and so do those among them whose row has a scale below a tenth of the median. Heavy tails
        alone do the first, and honest scales that differ a lot the second; scores that do not depend on the scale
        hardly ever do both. Nothing depends on the unit of y. The scale is that of a line, or of a broken line above
        all its knots.
        """
        xp, n = namespace(scores), scores.shape[0]
        if n < FEWEST:
            return
        distance = xp.abs(scores - _median(scores))
        total = float(xp.sum(distance))
        far = distance > FAR * total / n
        if not xp.sum(distance[far]) > MOST * total:  # most often the end: no scale was asked for
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what it says of rows without a width was said when they were scored
            lines = self.transform_of(prediction)
        if not isinstance(lines, (Affine, BrokenLine)):
            return
        scale = detached(lines.scale if isinstance(lines, Affine) else 1 / lines.slopes[:, -1])
        typical = float(_median(scale))
        dominant = far & (scale < NARROW * typical)
        share = float(xp.sum(distance[dominant])) / total
        if not share > MOST:
            return
        first, count = first_and_count(dominant)
        times = typical / float(xp.max(scale[dominant]))
        rules, its, score = ("rules", "its", "score makes") if count == 1 else ("rule", "their", "scores make")
        name = type(self).__name__
        warn_user(
            f"{name}: {count:,} of {n:,} calibration rows, the first is row {first}, {rules} the law of all: {its}"
            f" scale is {times:,.0f} times smaller than the median one, and {its} {score} {int(1000 * share) / 10:.3g}%"
            " of the spread of q, which decides the mean, the std and the tails of every calibrated law;"
            f" {self._remedy.format(name=name, floor=NARROW * typical)}, or calibrate the errors themselves,"
            " ResidualScore() on Point predictions (adapter='point' in CalibratedRegressor), or let CalibratedRegressor"
            " learn the scale on training rows (refine='spread')"
        )


def _median(values: Array) -> Array:
    """The upper median: in O(n) on numpy, whose sort of a million takes longer than all the rest."""
    place = values.shape[0] // 2
    ordered = np.partition(values, place) if isinstance(values, np.ndarray) else namespace(values).sort(values)
    return ordered[place]
