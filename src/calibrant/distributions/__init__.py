"""Laws on the real line: what base forecasts, interpolations q and calibrated predictions H are."""

from calibrant.distributions.base import Distribution
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.logistic import Logistic
from calibrant.distributions.mixture import Mixture
from calibrant.distributions.normal import Normal
from calibrant.distributions.piecewise import PiecewiseLinear

__all__ = ["Distribution", "LocationScale", "Logistic", "Mixture", "Normal", "PiecewiseLinear"]
