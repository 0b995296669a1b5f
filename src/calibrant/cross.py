"""Cross-calibration: every row is scored by a model that did not see it; the folds' distributions are averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from calibrant._batch import same
from calibrant._calibrated import CalledWithPredictions
from calibrant._types import Bound, Values
from calibrant.calibration import Calibrated
from calibrant.distributions.base import Distribution
from calibrant.distributions.clipped import Clipped
from calibrant.distributions.mixture import Mixture
from calibrant.distributions.rounding import Lattice
from calibrant.forecast import PredictionLike
from calibrant.guarantee import Guarantee
from calibrant.interpolators.weights import Weights
from calibrant.predictions import Ensemble, Prediction


@dataclass(frozen=True)
class CrossCalibrated(CalledWithPredictions):
    """H[x](y) = sum of n_k / n * q_k(phi(f_k(x), y)), for K folds of n_k rows with a model f_k that did not see them.

    >>> from calibrant import Calibrator
    >>> y = np.random.default_rng(0).normal(size=40)
    >>> halves = y[:20], y[20:]  # a "model" for each half: the mean of the other one
    >>> means = halves[1].mean(), halves[0].mean()
    >>> calibrated = CrossCalibrated(
    ...     tuple(Calibrator().fit(np.full(20, mean), half) for mean, half in zip(means, halves, strict=True))
    ... )
    >>> print(calibrated.guarantee)
    P(H(Y) <= c) <= 2c + 0.0952 and P(H(Y) >= 1 - c) <= 2c + 0.0952 for every c: the distributions of 2 folds are
    averaged, n = 40 scores in all, each by a model that did not see its row. Assumes exchangeable data, and continuous
    scores.
    >>> calibrated([[mean] for mean in means]).interval(0.8)
    (array([-1.06552344]), array([1.12601508]))
    """

    members: tuple[Calibrated, ...]
    """What was learned on each fold."""

    def __post_init__(self) -> None:
        if not self.members or not all(isinstance(member, Calibrated) for member in self.members):
            raise TypeError(f"CrossCalibrated.members must be Calibrated, one for each fold, got {self.members!r}")

    @property
    def weights(self) -> tuple[float, ...]:
        """Each fold's share of the rows."""
        rows = [member.guarantee.n for member in self.members]
        return tuple(count / sum(rows) for count in rows)

    @property
    def guarantee(self) -> Guarantee:
        """Of the kind 2c + O(K / n), not 1 / (n + 1)."""
        return Guarantee.of_parts("cross", [member.guarantee for member in self.members])

    def __call__(
        self,
        predictions: Sequence[PredictionLike] | Ensemble,
        *,
        by: Values | None = None,
        weights: Weights = None,
        bound: Bound = None,
        rng: np.random.Generator | None = None,
        seed: int | None = None,
    ) -> Distribution:
        """H[x_i] for each row i, given the prediction of every fold's model for these rows.

        All else is as in `Calibrated`.

        Args:
            predictions: What the model of each fold predicts for these rows: a list, or an `Ensemble`.
            by: The group of each row, as in `fit`.
            weights: The likelihood ratio of each row, where the calibration rows had some.
            bound: The bound of y in each row, as in `Calibrator.fit`.
            rng: A `numpy.random.Generator`, for what is drawn; a fresh one by default.
            seed: A whole number in place of `rng`: a row then has the same random number in any batch and any order.
        """
        predictions = predictions.members if isinstance(predictions, Ensemble) else predictions
        several = isinstance(predictions, Sequence) and not isinstance(predictions, (Prediction, Distribution))
        if not several or len(predictions) != len(self.members):
            raise TypeError(
                f"a CrossCalibrated takes a list of {len(self.members)} predictions of the same rows, one by each"
                f" fold's model, got {f'a list of {len(predictions)}' if several else repr(predictions)}"
            )
        distributions = [
            member(each, by=by, weights=weights, bound=bound, rng=rng, seed=seed)
            for member, each in zip(self.members, predictions, strict=True)
        ]
        return _mixed(distributions, self.weights).warning_if(self.guarantee.too_few)


def _mixed(distributions: Sequence[Distribution], weights: tuple[float, ...]) -> Distribution:
    """The mixture; where all are clipped or counts alike, that of what is clipped: its quantiles lie inside."""
    first = distributions[0]
    if isinstance(first, (Clipped, Lattice)):
        around = fields(first)[1:]  # all but the base
        if all(
            type(each) is type(first) and all(same(getattr(each, f.name), getattr(first, f.name)) for f in around)
            for each in distributions
        ):
            return replace(first, base=Mixture(tuple(each.base for each in distributions), weights))  # type: ignore[attr-defined]
    return Mixture(tuple(distributions), weights)
