"""Module 3: the interpolation algorithm, from calibration scores to the map q."""

from calibrant.interpolators.base import ContextInterpolator, Interpolator
from calibrant.interpolators.by_group import Apart, ByGroup
from calibrant.interpolators.linear import Linear
from calibrant.interpolators.naf import NAF
from calibrant.interpolators.naive import Naive
from calibrant.interpolators.random import Random
from calibrant.interpolators.tails import BoundedTails, ExponentialTails, InfiniteTails, Tails

__all__ = [
    "NAF",
    "Apart",
    "BoundedTails",
    "ByGroup",
    "ContextInterpolator",
    "ExponentialTails",
    "InfiniteTails",
    "Interpolator",
    "Linear",
    "Naive",
    "Random",
    "Tails",
]
