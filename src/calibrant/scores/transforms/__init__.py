"""Transforms: the increasing map y -> s that a score makes of each row of a prediction.

A transform knows nothing of q: `calibrant.scores.pull_back` pulls q back through each of them.
"""

from calibrant.scores.transforms.base import Affine, BrokenLine, Transform
from calibrant.scores.transforms.combined import Composed, Sum, compose, shifted, weighted_sum
from calibrant.scores.transforms.curves import CDF, ByFunctions, Logarithm, LogitCDF, TwoSided

__all__ = [
    "CDF",
    "Affine",
    "BrokenLine",
    "ByFunctions",
    "Composed",
    "Logarithm",
    "LogitCDF",
    "Sum",
    "Transform",
    "TwoSided",
    "compose",
    "shifted",
    "weighted_sum",
]
