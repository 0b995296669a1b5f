"""Module 3: the interpolation algorithm, from calibration scores to the map q."""

from calibrant.interpolators.base import Interpolator
from calibrant.interpolators.by_group import Apart, ByGroup
from calibrant.interpolators.by_horizon import ByHorizon
from calibrant.interpolators.linear import Linear
from calibrant.interpolators.naf import NAF
from calibrant.interpolators.steps import Naive, Random
from calibrant.interpolators.support import BoundedTails, ExponentialTails, InfiniteTails

__all__ = [
    "NAF",
    "Apart",
    "BoundedTails",
    "ByGroup",
    "ByHorizon",
    "ExponentialTails",
    "InfiniteTails",
    "Interpolator",
    "Linear",
    "Naive",
    "Random",
]
