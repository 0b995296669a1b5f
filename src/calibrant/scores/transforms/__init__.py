"""Transforms: the increasing map y -> s that a score makes of each row of a prediction.

A transform knows nothing of q: `calibrant.scores.pull_back` says what pulling q back through each of them gives.
"""

from calibrant.scores.transforms.base import Transform
from calibrant.scores.transforms.by_functions import ByFunctions
from calibrant.scores.transforms.composed import Composed, Logarithm, compose, shifted
from calibrant.scores.transforms.lines import Affine, BrokenLine
from calibrant.scores.transforms.logit_cdf import CDF, LogitCDF
from calibrant.scores.transforms.sum import Sum, weighted_sum
from calibrant.scores.transforms.two_sided import TwoSided

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
