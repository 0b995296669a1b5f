"""Checks of your own score, interpolator, distribution, labels, refiner or non-conformity, and of a backtest.

Each returns nothing, or raises an AssertionError that names what is wrong.

>>> import calibrant
>>> check_score(calibrant.scores.ResidualScore(), calibrant.Point([1.0, 2.0, 3.0]), [1.5, 1.0, 3.5])
>>> check_interpolator(calibrant.Linear())
>>> check_distribution(calibrant.Normal([1.0, 2.0], [0.5, 3.0]))
>>> check_labels(calibrant.labels.Real(0), [0.0, 0.5, 2.0, 3.5])
"""

from calibrant.testing.calibrators import (
    check_interpolator,
    check_labels,
    check_look_ahead,
    check_nonconformity,
    check_refiner,
    check_score,
)
from calibrant.testing.distributions import check_distribution

__all__ = [
    "check_distribution",
    "check_interpolator",
    "check_labels",
    "check_look_ahead",
    "check_nonconformity",
    "check_refiner",
    "check_score",
]
