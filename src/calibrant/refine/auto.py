"""The choice among refiners, on training rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from calibrant._arrays import Array
from calibrant._types import Features
from calibrant.distributions.base import Distribution
from calibrant.forecast import PredictionLike
from calibrant.predictions import Prediction
from calibrant.refine.base import Refinement, Refiner
from calibrant.refine.constant import Constant
from calibrant.refine.criteria import Criterion, CriterionName, criterion_named
from calibrant.refine.league import League
from calibrant.refine.location_scale import ResidualLocationScale
from calibrant.refine.mean import Mean
from calibrant.refine.quantiles import ResidualQuantiles
from calibrant.refine.rows import TrainingRows
from calibrant.refine.spread import Spread

SIMPLEST_FIRST: dict[str, Refiner] = {
    "constant": Constant(),
    "spread": Spread(),
    "location-scale": ResidualLocationScale(),
    "quantiles": ResidualQuantiles(),
    "mean": Mean(),
}
"""By name, from the simplest to the most elaborate."""

CANDIDATES = {name: SIMPLEST_FIRST[name] for name in ("constant", "spread", "location-scale", "quantiles", "mean")}
"""The candidates of the league. Mean has the lowest out-of-fold CRPS on the training rows of nearly every dataset of
the league. Quantiles, a part of it and learned with it, are as good where many labels are equal, and better in slices
there."""

_FOLDS = 3
_FOLDS_OF_FEW = 5
_FEW = 2_000
"""Fewer rows are evaluated in more folds, so that candidates learn from more of them."""
_FEWEST = 100
_MOST = 10_000


@dataclass(frozen=True)
class Auto(Refiner):
    """The simplest refiner within one standard error of the best, by a league on the training rows.

    The rows are cut into 3 folds, or 5 if there are fewer than 2,000. Each candidate learns on all folds but one. Its
    forecast of that one is calibrated on one half of its rows and evaluated on the other, and the other way round, so
    the criterion sees calibrated distributions of rows that were not used to learn. Of more than 10,000 rows, 10,000
    take part, at random. With fewer than 100 rows, or fewer than 6 groups, there is no league: the prediction keeps its
    own spread, shrunk, if it has one and `Spread` is a candidate; else the first is taken. All candidates share the
    out-of-fold predictions of the base model, which is not fitted again.

    Args:
        candidates: Refiners by name, or a list of them, from the simplest to the most elaborate; None for constant,
            spread, location-scale, quantiles and mean.
        criterion: "crps", "nll" (of distributions by NAF: the density of a linear distribution is rough) or "interval",
            the interval score at 90%.
    """

    candidates: Mapping[str, Refiner] | Sequence[Refiner | tuple[str, Refiner]] | None = None
    criterion: CriterionName = "crps"

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "candidates", named(CANDIDATES if self.candidates is None else self.candidates, Refiner)
        )
        criterion_named(self.criterion)

    def fit(self, rows: TrainingRows) -> ChosenRefinement:
        """The league, and the chosen refiner fitted on all rows."""
        candidates = dict(cast("Sequence[tuple[str, Refiner]]", self.candidates))
        if rows.spread is None:  # the prediction has no spread to go by
            candidates = {name: each for name, each in candidates.items() if not isinstance(each, Spread)} or candidates
        league = None
        name = next((name for name, each in candidates.items() if isinstance(each, Spread)), next(iter(candidates)))
        judges = rows.sampled(_MOST)
        if len(candidates) > 1 and len(rows) >= _FEWEST and judges.units >= 2 * _FOLDS:  # two halves of each fold
            league = self._league(candidates, judges, criterion_named(self.criterion))
            name = league.chosen
        return ChosenRefinement(name, candidates[name].fit(rows), league)

    def _league(self, candidates: Mapping[str, Refiner], rows: TrainingRows, criterion: Criterion) -> League:
        scores: dict[str, list[Array]] = {name: [] for name in candidates}
        seconds = dict.fromkeys(candidates, 0.0)
        order = []
        _ = rows.matrix  # encoded once for all folds
        for train, test in rows.folds(_folds(rows)):
            part, held = rows[train], rows[test]
            halves = two_halves(len(held), held.groups, held.seed)
            order += [test[half] for half in halves[::-1]]  # each half is judged by a distribution of the other
            for name, candidate in candidates.items():
                start = time.perf_counter()
                prediction = candidate.fit(part)(held.X, held.prediction)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of ties and few rows: it is a trial
                    scores[name] += criterion.row_scores(prediction, held.y, halves)
                seconds[name] += time.perf_counter() - start
        joined = {name: np.concatenate(each) for name, each in scores.items()}
        judged = rows[np.concatenate(order)]
        return League.of(criterion.name, joined, seconds, judged.sample_weight, judged.groups)


def _folds(rows: TrainingRows) -> int:
    """How many; a fold has two units at least, one for each half."""
    return _FOLDS_OF_FEW if len(rows) < _FEW and rows.units >= 2 * _FOLDS_OF_FEW else _FOLDS


def two_halves(count: int, groups: Array | None, seed: int) -> tuple[Array, Array]:
    """Two halves of so many rows, at random; groups stay together."""
    groups = np.arange(count) if groups is None else np.unique(groups, return_inverse=True)[1]
    order = np.random.default_rng(seed).permutation(groups.max() + 1)
    first = order[groups] < (groups.max() + 1) / 2
    return np.flatnonzero(first), np.flatnonzero(~first)


def named(candidates: Any, kind: type) -> tuple[tuple[str, Any], ...]:
    """Candidates with their names, in order: of a dict its keys, of a list what each is."""
    if isinstance(candidates, Mapping):
        pairs = [(str(name), each) for name, each in candidates.items()]
    elif isinstance(candidates, Sequence) and not isinstance(candidates, str):
        pairs = [each if _is_pair(each) else (_name(each), each) for each in candidates]
    else:
        raise TypeError(f"candidates must be a list or a dict, got {candidates!r}")
    names = [name for name, _ in pairs]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"candidates must be at least one, each with a name of its own, got {names}")
    for name, each in pairs:
        if isinstance(each, type) or not isinstance(each, kind):
            raise TypeError(f"candidate {name!r} must be a {kind.__name__}, got {each!r}")
    return tuple(pairs)


def _is_pair(each: Any) -> bool:
    return isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], str)


def _name(each: Any) -> str:
    known = (name for name, refiner in SIMPLEST_FIRST.items() if refiner == each)
    return next(known, repr(each))


@dataclass(frozen=True)
class ChosenRefinement:
    """The chosen refinement, its name, and the league, if there was one."""

    name: str
    refinement: Refinement
    league: League | None

    def __call__(self, X: Features, prediction: PredictionLike) -> Prediction | Distribution:
        """The prediction of the chosen refinement."""
        found: Prediction | Distribution = self.refinement(X, prediction)
        return found
