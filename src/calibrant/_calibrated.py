"""Methods of calibrators that need modules which build on them; these are imported when a method is called."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Self

from calibrant._types import ArrayLike
from calibrant.forecast import PredictionLike


class Saveable:
    """Can be written to a file that `calibrant.load` reads."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a safetensors file that `calibrant.load` reads. An older file is replaced at once or not at all.

        Args:
            path: The file to write; an older one is replaced.
        """
        from calibrant.persistence import save  # it knows every class that can be saved

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
        from calibrant.updating import updated  # which makes one of these

        return updated(self, prediction, y, refit=refit, **known)  # type: ignore[arg-type, return-value]

    def merge(self, *others: Self) -> Self:
        """One calibrator of all their scores, as of a fit on all their rows, in any order; see `updating.merged`.

        Args:
            others: Calibrators fitted on other rows with the same score, interpolator and labels.
        """
        from calibrant.updating import merged  # which makes one of these

        return merged(self, *others)  # type: ignore[arg-type, return-value]
