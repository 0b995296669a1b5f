"""What lies beyond the extreme scores: n scores leave 1/(n + 1) of mass beyond each end.

The choice changes no guarantee, only what density, mean, std and crps can be said to be out there.
"""

from calibrant.interpolators.tails.base import Ends, Tails
from calibrant.interpolators.tails.bounded import BoundedTails
from calibrant.interpolators.tails.exponential import ExponentialTails
from calibrant.interpolators.tails.infinite import InfiniteTails

__all__ = ["BoundedTails", "Ends", "ExponentialTails", "InfiniteTails", "Tails"]
