"""Refiners made of others: one after the other, the mean of several, one for each part of the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from calibrant._arguments import one_number
from calibrant._words import in_all
from calibrant.predictions import Quantiles, WithAtom
from calibrant.refine.base import Refinement, Refiner, TrainingRows
from calibrant.refine.boosting import (
    MOST,
    LocationScaleRefinement,
    ResidualLocationScale,
    ResidualQuantiles,
    few_threads,
    leaf,
)
from calibrant.refine.features import Encoder
from calibrant.refine.forest import Forest, ForestDistribution
from calibrant.refine.spread import Spread
from calibrant.refine.stack import LEVELS, at_levels

FEWEST_ROWS, FEWEST_GROUPS = 100, 6
"""Fewer teach too little: the prediction then keeps its own spread, shrunk."""
_FEWEST = 10
"""Rows of either part: fewer teach no classifier."""


@dataclass(frozen=True)
class Cascade(Refiner):
    """The local distribution of the scores (y - location) / scale that `ResidualLocationScale` leaves, out of fold."""

    def fit(self, rows: TrainingRows) -> Refinement:
        """First the location and the scale, then the distribution of the scores."""
        first, sample, scores = ResidualLocationScale().with_scores(rows)
        return partial(_in_cascade, first=first, distribution=Forest().distribution(sample, scores))


def _in_cascade(X: Any, prediction: Any, first: LocationScaleRefinement, distribution: ForestDistribution) -> Quantiles:
    """location + scale * quantiles of the score."""
    matrix = first.features(X, prediction)
    location, scale = first.loc_scale(matrix)
    return Quantiles(LEVELS, location[:, None] + scale[:, None] * distribution.quantiles(matrix))


@dataclass(frozen=True)
class Mean(Refiner):
    """The mean of the quantiles of several refiners at 25 levels: their errors partly cancel.

    With fewer than 100 rows, or 6 groups, it does what `Spread` does: a point stays as it is.
    """

    members: Sequence[Refiner] = (Cascade(), ResidualQuantiles())

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", tuple(self.members))
        if not self.members or not all(isinstance(member, Refiner) for member in self.members):
            raise TypeError(f"Mean.members must be refiners, at least one, got {self.members!r}")

    def fit(self, rows: TrainingRows) -> Refinement:
        """Each member by itself."""
        if not teaches_a_mean(len(rows), rows.units):
            return Spread().fit(rows)
        return partial(_mean, members=[member.fit(rows) for member in self.members])


def teaches_a_mean(rows: int, units: int) -> bool:
    """Whether so many rows, of so many groups, are enough for the members of `Mean`."""
    return rows >= FEWEST_ROWS and units >= FEWEST_GROUPS


def _mean(X: Any, prediction: Any, members: Sequence[Refinement]) -> Quantiles:
    """The mean of the members' quantiles."""
    each = [at_levels(member(X, prediction)) for member in members]
    return Quantiles(LEVELS, np.sort(sum(each[1:], each[0]) / len(each), axis=1))


@dataclass(frozen=True)
class TwoPart(Refiner):
    """WithAtom(what `refiner` learns from the rows above the atom, P(Y = at | x) by a boosted classifier).

    It is what `CalibratedRegressor(model, labels="atom:0")` makes of its `refine`. The classifier sees X and the
    out-of-fold prediction. With fewer than 10 rows at the atom, or above it, every row gets the same share.
    """

    refiner: Refiner = field(default_factory=Mean)
    at: float = 0.0

    def __post_init__(self) -> None:
        if isinstance(self.refiner, type) or not isinstance(self.refiner, Refiner):
            raise TypeError(f"TwoPart.refiner must be a Refiner, got {self.refiner!r}")
        object.__setattr__(self, "at", one_number("TwoPart.at", self.at))

    def fit(self, rows: TrainingRows) -> Refinement:
        """The classifier on all rows, the refiner on those above the atom."""
        if np.any(rows.y < self.at):
            raise ValueError(
                f"y is {np.min(rows.y):g} in a training row ({in_all(np.sum(rows.y < self.at))}), below the atom"
                f" at {self.at:g}"
            )
        above = np.flatnonzero(rows.y > self.at)
        if len(above) < 2:
            raise ValueError(
                f"{len(above)} of {len(rows)} training rows have a label above {self.at:g}: what lies above the atom"
                " takes at least two to learn"
            )
        _ = rows.matrix  # encoded once for both
        share, classifier = _atom_share(rows, self.at)
        rest = self.refiner.fit(rows[above])
        return partial(_both, features=rows.features, share=share, classifier=classifier, rest=rest)


def _atom_share(rows: TrainingRows, at: float) -> tuple[float, HistGradientBoostingClassifier | None]:
    """The share of the atom in all rows, and what knows more."""
    at_atom = rows.y == at
    share = float((np.average(at_atom, weights=rows.sample_weight) * len(rows) + 0.5) / (len(rows) + 1))
    if not _FEWEST <= np.sum(at_atom) <= len(rows) - _FEWEST:
        return share, None
    rows = rows.sampled(MOST)
    model = HistGradientBoostingClassifier(
        learning_rate=0.05,
        max_iter=200,
        max_leaf_nodes=15,
        min_samples_leaf=leaf(rows, 30),
        l2_regularization=5.0,
        early_stopping=len(rows) >= 100,
        random_state=rows.seed,
    )
    with few_threads(rows.matrix):
        return share, model.fit(rows.matrix, rows.y == at, sample_weight=rows.sample_weight)


def _both(X: Any, prediction: Any, features: Encoder, share: float, classifier: Any, rest: Refinement) -> WithAtom:
    """Both parts of each row."""
    matrix = features(X, prediction)
    shares = np.full(len(matrix), share)
    if classifier is not None:
        with few_threads(matrix):
            shares = np.asarray(classifier.predict_proba(matrix)[:, 1])
    return WithAtom(rest(X, prediction), shares)
