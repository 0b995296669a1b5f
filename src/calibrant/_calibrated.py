"""What everything that was calibrated has: `save`, and an error that helps where it is taken for a model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any


class Saved:
    """What `calibrant.load` reads again."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a safetensors file that `calibrant.load` reads; a crash leaves an older file whole.

        Args:
            path: The file to write; an older one is replaced.
        """
        from calibrant.persistence import save  # it knows every class that can be saved

        save(path, self)  # type: ignore[arg-type]


class NotTheEstimator(Saved):
    """What was calibrated, without a model: it is called with predictions, and cannot make them of X."""

    if not TYPE_CHECKING:  # a type checker would take every name for one that is there

        def __getattr__(self, name: str) -> Any:
            problem = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name.startswith("predict"):
                problem += (
                    ": it holds the calibration, not the model. Call it with the model's predictions, as in"
                    " calibrated(prediction_of(model, X)).interval(0.9); joblib.dump(estimator, path) keeps both"
                )
            raise AttributeError(problem, name=name, obj=self)
