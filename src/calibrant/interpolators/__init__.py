"""Module 3: the interpolation algorithm, from calibration scores to the map q."""

from calibrant.interpolators.base import Interpolator
from calibrant.interpolators.by_group import Apart, ByGroup
from calibrant.interpolators.by_horizon import ByHorizon
from calibrant.interpolators.history import ContextInterpolator
from calibrant.interpolators.linear import Linear
from calibrant.interpolators.naf import NAF
from calibrant.interpolators.naive import Naive
from calibrant.interpolators.random import Random
from calibrant.interpolators.support import BoundedTails, ExponentialTails, InfiniteTails, Tails
from calibrant.interpolators.weights import CalibrationWeights, Ratios

__all__ = [
    "NAF",
    "Apart",
    "BoundedTails",
    "ByGroup",
    "ByHorizon",
    "CalibrationWeights",
    "ContextInterpolator",
    "ExponentialTails",
    "InfiniteTails",
    "Interpolator",
    "Linear",
    "Naive",
    "Random",
    "Ratios",
    "Tails",
]
