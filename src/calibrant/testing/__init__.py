"""The laws that a score, an interpolator, a distribution, labels or a refiner of your own must keep, run on it.

Each check returns nothing, or raises an AssertionError that names the law that broke.

>>> from calibrant import Normal, Point
>>> from calibrant.scores import ResidualScore
>>> check_score(ResidualScore(), Point([1.0, 2.0, 3.0]), [1.5, 1.0, 3.5])
>>> from calibrant.interpolators import Linear
>>> check_interpolator(Linear())
>>> check_distribution(Normal([1.0, 2.0], [0.5, 3.0]))
>>> from calibrant.labels import Real
>>> check_labels(Real(0), [0.0, 0.5, 2.0, 3.5])

`check_refiner` needs scikit-learn:

>>> from calibrant.refine import Plain
>>> from calibrant.testing import check_refiner
>>> check_refiner(Plain())
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from calibrant.testing.distributions import check_distribution
from calibrant.testing.interpolators import check_interpolator
from calibrant.testing.labels import check_labels
from calibrant.testing.look_ahead import check_look_ahead
from calibrant.testing.scores import check_score

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
