"""Checks of a score, an interpolator, a distribution, labels or a refiner of your own, and of a backtest.

Each returns nothing, or raises an AssertionError that says what is wrong. `check_refiner` needs scikit-learn.

>>> import calibrant
>>> check_score(calibrant.scores.ResidualScore(), calibrant.Point([1.0, 2.0, 3.0]), [1.5, 1.0, 3.5])
>>> check_interpolator(calibrant.Linear())
>>> check_distribution(calibrant.Normal([1.0, 2.0], [0.5, 3.0]))
>>> check_labels(calibrant.labels.Real(0), [0.0, 0.5, 2.0, 3.5])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from calibrant.testing.calibrators import check_interpolator, check_labels, check_look_ahead, check_score
from calibrant.testing.distributions import check_distribution

if TYPE_CHECKING:
    from calibrant.testing.refiners import check_refiner as check_refiner


def __getattr__(name: str) -> Any:
    if name != "check_refiner":
        raise AttributeError(f"module 'calibrant.testing' has no attribute {name!r}")
    return import_module("calibrant.testing.refiners").check_refiner


__all__ = [
    "check_distribution",
    "check_interpolator",
    "check_labels",
    "check_look_ahead",
    "check_refiner",
    "check_score",
]
