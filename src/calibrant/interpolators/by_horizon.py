"""Calibration by horizon: each has a law of its own, and neighbouring horizons lend to each other."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np

from calibrant._arrays import Array
from calibrant.distributions.base import Distribution
from calibrant.distributions.context import Context
from calibrant.distributions.grouped import Grouped
from calibrant.distributions.piecewise_linear import Numbers, PiecewiseLinear
from calibrant.guarantee import GroupGuarantee, HorizonGuarantee
from calibrant.interpolators.borrowing import FOLDS, Counts, borrowed
from calibrant.interpolators.by_group import Apart, parted, promised
from calibrant.interpolators.lending import lent
from calibrant.interpolators.linear import Linear
from calibrant.interpolators.naf import NAF
from calibrant.interpolators.support import REAL_LINE, as_support
from calibrant.interpolators.support.base import Support


@dataclass(frozen=True)
class ByHorizon:
    """`ByGroup` for groups that are steps ahead, 1, 2, 3, ...: a horizon also borrows from its neighbours.

    One more law joins the mixture of `ByGroup`, that of the neighbours, see `calibrant.interpolators.lending`. The law
    is held to the horizon's own scores by the lambda guard as there, so the guarantee is the same,
    (1 + lambda_h) / (n_h + 1).

    What is held out to find the weights is a fifth of the rows of each horizon, one after the other. Forecasts made at
    one time miss together: if the rows are sorted by that time, they are held out together.

    >>> from calibrant import Calibrator
    >>> rng = np.random.default_rng(0)
    >>> h = np.tile(np.arange(1, 13), 40)  # 40 forecasts, of 12 steps each
    >>> y = np.sqrt(h) * rng.normal(size=h.size)
    >>> calibrated = Calibrator(interpolator=ByHorizon()).fit(np.zeros(h.size), y, by=h)
    >>> calibrated(np.zeros(3), by=[1, 4, 9]).std().round(1)
    array([1.2, 2.5, 2.8])
    >>> calibrated.guarantee.of(9).epsilon.__round__(3)
    0.102
    """

    pooled: NAF = field(default_factory=NAF)
    """What makes the law of all, and promises lambda_h."""

    def fit_rows(
        self, scores: Array, context: Context, *, support: Support = REAL_LINE
    ) -> tuple[Distribution, GroupGuarantee]:
        """The laws of the horizons, and what is promised to each."""
        known = as_support(support)
        known.check(scores)
        labels, parts, rows = parted(scores, context)
        horizons = _steps(labels)
        if bool(parts.scores.min() == parts.scores.max()):  # nothing tells a scale: say so, as Linear does
            q, guarantee = Apart(Linear()).fit_rows(scores, context, support=support)
            return q, HorizonGuarantee.of_groups(guarantee)
        accuracies = np.asarray([self.accuracy(int(n)) for n in parts.counts])
        folds = _stretches(rows, parts.group, parts.counts)
        lending = lent(parts, horizons, folds, self.pooled.units)
        table, _ = borrowed(parts, accuracies, self.pooled.units, folds=folds, lent=lending)
        laws = known.bounded(PiecewiseLinear(table, np.arange(len(table))).to(scores))
        return Grouped(laws, labels), HorizonGuarantee.of_groups(promised(labels, parts, accuracies))

    def fit(
        self, scores: Array, *, support: Support = REAL_LINE, rng: np.random.Generator | None = None
    ) -> Distribution:
        """Without horizons, one q for all rows."""
        return self.pooled.fit(scores, support=support, rng=rng)

    def accuracy(self, n: int) -> float:
        """The lambda of a horizon of n scores."""
        return self.pooled.accuracy(n)


def _steps(labels: tuple[Hashable, ...]) -> Numbers:
    """The horizons as numbers."""
    odd = next((label for label in labels if type(label) is not int or label < 1), None)
    if odd is not None:
        raise ValueError(f"by must hold horizons, whole numbers of steps from 1 on, got {odd!r}")
    return np.asarray(labels, np.float64)


def _stretches(rows: Counts, group: Counts, counts: Counts) -> Counts:
    """The fold of each score: a fifth of the rows of its horizon that follow one another."""
    order = np.lexsort((rows, group))
    place = np.empty(len(rows), np.int64)
    place[order] = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.asarray(place * FOLDS // counts[group], np.int64)
