"""What calibrators can once they are fitted: be saved, take the scores of new rows, be merged with others."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from calibrant._types import ArrayLike
from calibrant.forecast import PredictionLike
from calibrant.guarantee import Basis
from calibrant.interpolators.history import merged
from calibrant.updating import check_adding, check_alike, known_history, refitted, scores_of


class Saveable:
    """Can be written to a file that `calibrant.load` reads."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a safetensors file that `calibrant.load` reads. An older file is replaced at once or not at all.

        Args:
            path: The file to write; an older one is replaced.
        """
        from calibrant.files import save  # it knows every class that can be saved

        save(path, self)  # type: ignore[arg-type]


class CalledWithPredictions(Saveable):
    """A calibrator without a model: it takes predictions, not X, and says so where `predict` is asked for."""

    if not TYPE_CHECKING:  # a type checker would take every name for one that is there

        def __getattr__(self, name: str) -> Any:
            problem = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name.startswith("predict"):
                problem += (
                    ": it holds the calibration, not the model. Call it with the model's predictions, as in"
                    " calibrated(prediction_of(model, X)).interval(0.9); joblib.dump(estimator, path) keeps both"
                )
            raise AttributeError(problem, name=name, obj=self)


class Updatable(CalledWithPredictions):
    """A calibrator that takes more rows."""

    def update(self, prediction: PredictionLike, y: ArrayLike, *, refit: bool = False, **known: Any) -> Self:
        """A new calibrator, with the scores of these rows added. The score, with its floor, stays.

        Args:
            prediction: The prediction of each row, of the kind that was calibrated.
            y: The labels: one number per row.
            refit: Fit an interpolator that cannot add scores, such as NAF, to all scores again.
            known: `by`, `weights`, `bound` and `rng` of the new rows, as in `fit`.
        """
        history = known_history(self)
        if not refit:
            check_adding(self, "cannot add to it: pass refit=True to fit it again")
        history.check(known.get("by"), known.get("weights"))
        return refitted(self, history.then(*scores_of(self, prediction, y, **known)), known.get("rng"))

    def merge(self, *others: Self) -> Self:
        """What all of them would be as one fit on all their rows, in any order.

        Their score must be the same to the last number: where `fit` learns one, such as a floor, fix it beforehand
        (`ZScore(floor=0.01)`). Labels that are drawn, such as counts, are as one fit draws them if the draws go by row
        ids, as `calibrant.tables` has them.

        Args:
            others: Calibrators fitted on other rows with the same score, interpolator and labels.

        >>> from calibrant import Calibrator
        >>> fit = Calibrator().fit
        >>> fit([0.0, 1.0], [0.5, 3.0]).merge(fit([2.0, 2.0], [1.0, 3.0])).q.knots
        array([-1. ,  0.5,  1. ,  2. ])
        """
        for other in others:
            check_alike(self, other)
        return refitted(self, merged([known_history(each) for each in (self, *others)]), None)

    def on_basis(self, basis: Basis) -> Self:
        """The same, where calibration rows are not exchangeable with new ones, and `basis` says what is claimed.

        Args:
            basis: As in `Guarantee`: "nested" or "time".
        """
        own: Any = self
        history = None if own.history is None else replace(own.history, basis=basis)
        return replace(own, history=history, guarantee=own.guarantee.on_basis(basis))  # type: ignore[no-any-return]
