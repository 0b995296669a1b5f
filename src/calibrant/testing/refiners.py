"""The laws of a refiner."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from calibrant._arrays import to_numpy
from calibrant.calibration import Calibrator
from calibrant.predictions import Point, as_prediction
from calibrant.refine import Refiner, TrainingRows
from calibrant.testing.broken import law

_ROWS, _NEW = 300, 60


def check_refiner(refiner: Refiner, rows: TrainingRows | None = None) -> None:
    """Raise an AssertionError unless `refiner` keeps the laws of a refiner.

    The laws: what `fit` returns gives a prediction of every row that can be calibrated; a row's prediction depends on
    no other row it is asked with; the rows it learned from are left as they were; the same rows and seed teach it the
    same; what it learned pickles. The rows are made up, unless you give some: the first 5/6 teach, the rest are asked.
    """
    rows = _made_up() if rows is None else rows
    taught, new = np.arange(len(rows) * 5 // 6), np.arange(len(rows) * 5 // 6, len(rows))
    law(len(new) >= 4, f"check_refiner needs at least 24 rows, got {len(rows)}")
    train, asked = rows[taught], rows[new]
    before = pickle.dumps((train.X, train.prediction, train.y))
    name, learned = type(refiner).__name__, refiner.fit(train)
    law(callable(learned), f"{name}.fit must return a function of X and a prediction, got {learned!r}")
    law(
        pickle.dumps((train.X, train.prediction, train.y)) == before,
        f"{name}.fit must leave the rows it learns from as they are, but changed them",
    )
    given = as_prediction(learned(asked.X, asked.prediction))
    law(len(given) == len(new), f"{name} must give one prediction a row, {len(new)}, got {len(given)}")
    half = len(new) // 2
    H = Calibrator().fit(given[:half], asked.y[:half])(given[half:])
    law(bool(np.all(np.isfinite(to_numpy(H.median())))), f"what {name} gives must have a finite calibrated median")
    one = as_prediction(learned(rows[new[:1]].X, rows[new[:1]].prediction))
    law(_same(one, given[:1]), f"{name} must treat each row by itself, but the first row alone is refined another way")
    again = as_prediction(refiner.fit(rows[taught])(asked.X, asked.prediction))
    law(_same(again, given), f"{name} must learn the same from the same rows and seed: use rows.seed for what it draws")
    try:
        copy = pickle.loads(pickle.dumps(learned))
    except Exception as error:
        raise AssertionError(f"what {name}.fit returns must pickle, but: {error}") from error
    law(_same(as_prediction(copy(asked.X, asked.prediction)), given), f"what {name} learned must survive pickling")


def _made_up() -> TrainingRows:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(_ROWS + _NEW, 3))
    centre = X[:, 0]
    y = centre + 0.5 * X[:, 1] + np.exp(0.5 * X[:, 2]) * rng.normal(size=len(X))
    return TrainingRows(X, Point(centre), y)


def _same(one: Any, other: Any) -> bool:
    """Whether two predictions say the same."""
    ours, theirs = one.spread_rows(), other.spread_rows()
    if (ours is None) != (theirs is None) or one.form() != other.form():
        return False
    pairs = [(one.centre_rows(), other.centre_rows())] + ([] if ours is None else [(ours, theirs)])
    return all(np.allclose(to_numpy(a), to_numpy(b), rtol=1e-6, atol=1e-12) for a, b in pairs)
