"""What every calibrator can: be saved, and say that it takes predictions rather than X."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any


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
