"""The laws that a score, an interpolator and a distribution of your own must keep, run on your class.

Each check returns nothing, or raises an AssertionError that names the law that broke.

>>> from calibrant import Normal, Point
>>> from calibrant.scores import ResidualScore
>>> check_score(ResidualScore(), Point([1.0, 2.0, 3.0]), [1.5, 1.0, 3.5])
>>> from calibrant.interpolators import Linear
>>> check_interpolator(Linear())
>>> check_distribution(Normal([1.0, 2.0], [0.5, 3.0]))
"""

from calibrant.testing.distributions import check_distribution
from calibrant.testing.interpolators import check_interpolator
from calibrant.testing.scores import check_score

__all__ = ["check_distribution", "check_interpolator", "check_score"]
