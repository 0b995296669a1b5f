"""What a refiner must satisfy."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from calibrant.calibration import Calibrator
from calibrant.predictions import Point, as_prediction
from calibrant.refine import Refiner, TrainingRows
from calibrant.testing.distributions import numbers, require


def check_refiner(refiner: Refiner, rows: TrainingRows | None = None) -> None:
    """Raise an AssertionError unless `refiner` does what a refiner must.

    What `fit` returns gives a prediction of every row that can be calibrated; a row's prediction depends on no other
    row; the training rows are left as they were; the same rows and seed give the same; what was learned pickles. The
    rows are made up, unless you give some: the first 5/6 train, the others are predicted.

    Args:
        refiner: The refiner to test.
        rows: Rows to test it on; made up by default.
    """
    if rows is None:
        rng = np.random.default_rng(0)
        X, error = rng.normal(size=(360, 3)), rng.normal(size=360)
        rows = TrainingRows(X, Point(X[:, 0].copy()), X[:, 0] + 0.5 * X[:, 1] + np.exp(0.5 * X[:, 2]) * error)
    name, taught, new = type(refiner).__name__, *np.split(np.arange(len(rows)), [len(rows) * 5 // 6])
    require(len(new) >= 4, f"check_refiner needs at least 24 rows, got {len(rows)}")
    train, asked, half = rows[taught], rows[new], len(new) // 2

    def given(learned: Any, asked: TrainingRows = asked) -> Any:
        return as_prediction(learned(asked.X, asked.prediction))

    before, learned = pickle.dumps((train.X, train.prediction, train.y)), refiner.fit(train)
    require(callable(learned), f"{name}.fit must return a function of X and a prediction, got {learned!r}")
    same = pickle.dumps((train.X, train.prediction, train.y)) == before
    require(same, f"{name}.fit must leave the rows it learns from as they are, but changed them")
    refined = given(learned)
    require(len(refined) == len(new), f"{name} must give one prediction per row, {len(new)}, got {len(refined)}")
    H = Calibrator().fit(refined[:half], asked.y[:half])(refined[half:])
    require(bool(np.all(np.isfinite(numbers(H.median())))), f"what {name} gives must have a finite calibrated median")
    same = _same(given(learned, asked[np.arange(1)]), refined[:1])
    require(same, f"{name} must treat each row by itself, but the first row alone is refined another way")
    same = _same(given(refiner.fit(rows[taught])), refined)
    require(same, f"{name} must learn the same from the same rows and seed: use rows.seed for what it draws")
    try:
        copy = pickle.loads(pickle.dumps(learned))
    except Exception as error:
        raise AssertionError(f"what {name}.fit returns must pickle, but: {error}") from error
    require(_same(given(copy), refined), f"what {name} learned must survive pickling")


def _same(one: Any, other: Any) -> bool:
    """Whether two predictions are alike in form, middle and spread."""
    parts = [[each.centre_rows(), each.spread_rows()] for each in (one, other)]
    (middle, width), (second, other_width) = [[np.nan if p is None else numbers(p) for p in pair] for pair in parts]
    near = (np.allclose(a, b, 1e-6, 1e-12, equal_nan=True) for a, b in ((middle, second), (width, other_width)))
    return one.form() == other.form() and all(near)
